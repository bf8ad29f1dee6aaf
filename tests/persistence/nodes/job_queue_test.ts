import assert from "node:assert/strict";
import { BusyError, StoreError, TakenOverError } from "../../../src/domain/errors.ts";
import { checkRun, runningRun } from "../../../src/persistence/runs.ts";
import type { ClaimedJob, NewJob } from "../../../src/persistence/store.ts";
import { iterate, newIteration, newQuery, OWNER, queryEnd, QUESTION } from "../../conformance/store/fixtures.ts";
import { postgresTests } from "../../helpers/postgres.ts";
import { lapse, revive, type TestNode, testNode } from "./_cluster.ts";

const test = await postgresTests();

interface Rig {
  readonly one: TestNode;
  readonly two: TestNode;
  readonly url: string;
  readonly a: string;
  readonly b: string;
}

function check(name: string, work: (rig: Rig) => Promise<void>): void {
  test(name, async (postgres) => {
    const url = await postgres.createDatabase();
    await using one = await testNode(url, "one");
    await using two = await testNode(url, "two");
    const branch = async (title: string) =>
      (await one.store.createConversation({ title, channel: "http", workspace: "/w" })).branchId;
    await work({ one, two, url, a: await branch("a"), b: await branch("b") });
  });
}

const job = (queryId: string, branchId: string, more: Partial<NewJob> = {}): NewJob => (
  { queryId, branchId, request: new Uint8Array([1, 2]), refuseWhenBusy: false, ...more }
);
const ids = (jobs: readonly Pick<ClaimedJob, "queryId">[]) => jobs.map(({ queryId }) => queryId);
const begin = ({ store }: TestNode, queryId: string, branchId: string) =>
  store.beginQuery({ ...newQuery(branchId, "x"), queryId });
const end = ({ store }: TestNode, queryId: string) => store.endQuery(queryId, queryEnd());

check("requests of a branch are claimed in order, one at a time, by any node", async ({ one, two, a, b }) => {
  for (const id of ["q1", "q2"]) await one.nodes.accept(job(id, a));
  await one.nodes.accept(job("q3", b));
  const [first] = await two.nodes.claim(1, []);
  assert.deepEqual([first?.queryId, first?.epoch, first?.begun, first?.lost, [...first?.request ?? []]], [
    ...["q1", 1, false, false, [1, 2]],
  ]);
  assert.deepEqual(ids(await one.nodes.claim(9, [])), ["q3"]);
  await begin(two, "q1", a);
  await end(two, "q1");
  assert.deepEqual(ids(await one.nodes.claim(9, [])), ["q2"]);
});

check("many claims at once never run two requests of a branch", async ({ one, two, a, b }) => {
  for (let n = 0; n < 20; n++) await one.nodes.accept(job(`q${n}`, n % 2 ? b : a));
  const order = new Map<string, string[]>([[a, []], [b, []]]);
  let left = 20;
  const worker = async (at: TestNode) => {
    while (left > 0) {
      for (const { queryId, branchId } of await at.nodes.claim(2, [])) {
        await begin(at, queryId, branchId);
        const held = await at.sql("SELECT FROM job WHERE conversation_state_id = $1 AND node_id IS NOT NULL", branchId);
        assert.equal(held.length, 1);
        order.get(branchId)?.push(queryId);
        left--;
        await end(at, queryId);
      }
    }
  };
  await Promise.all([worker(one), worker(one), worker(two), worker(two)]);
  for (const [at, list] of [...order.values()].entries()) {
    assert.deepEqual(list, Array.from({ length: 10 }, (_, n) => `q${n * 2 + at}`));
  }
  assert.deepEqual(await one.nodes.waiting(), { depth: 0, oldestMs: 0 });
});

check("a node that no longer reports loses its run, and no write of it is stored any more", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  const begun = await one.store.beginIteration(newIteration("q1", 0));
  assert.deepEqual(await two.nodes.claim(1, []), []);
  await lapse(two, "one");
  const [taken] = await two.nodes.claim(1, []);
  assert.deepEqual([taken?.epoch, taken?.begun, taken?.lost, taken?.losses], [2, true, true, 1]);
  const place = { namespace: "x", branchId: a, iterationId: begun };
  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    beginIteration: () => one.store.beginIteration(newIteration("q1", 1)),
    setDiffs: () => one.store.setDiffs(begun, []),
    endIteration: () =>
      one.store.endIteration(begun, {
        ...{ status: "done", blocks: [], system: [], error: null, empty: true, metadata: {} },
        totals: { iterations: 1, usage: queryEnd().usage, costUsd: 0 },
      }),
    setQuestion: () => one.store.setQuestion("q1", { question: QUESTION, answer: null }),
    setWaiting: () => one.store.setWaiting("q1", ["x"]),
    addSteered: () => one.store.addSteered("q1", { iteration: 1, texts: ["x"] }),
    setScope: () => one.store.setScope(a, { names: [], scope: "forgotten", queryId: "q1" }),
    createChildBranch: () =>
      one.store.createChildBranch({ branchId: a, iterationId: begun, depth: 1, title: "", images: [], copies: [] }),
    "states.put": () => one.store.states.put(place, { key: "k", value: 1 }),
    endQuery: () => end(one, "q1"),
  };
  for (const [name, write] of Object.entries(writes)) await assert.rejects(write, TakenOverError, name);
  assert.notEqual(await two.store.takeOver("q1", OWNER), null);
  await iterate(two.store, { queryId: "q1", position: 1, blocks: [] });
  await end(two, "q1");
  await assert.rejects(end(one, "q1"), TakenOverError, "its end is that of the other node");
  assert.deepEqual([...await revive(one)], []);
});

check("a write that was checked is stored before another node takes the run", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  await lapse(two, "one");
  const open = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const writing = one.db.write(async (tx) => {
    await checkRun(tx, { queryId: "q1" });
    entered.resolve();
    await open.promise;
  });
  await entered.promise;
  assert.deepEqual(await two.nodes.claim(1, []), [], "it skips the run that is being written");
  open.resolve();
  await writing;
  assert.deepEqual(ids(await two.nodes.claim(1, [])), ["q1"]);
});

check("a write whose run another node takes after it was checked is not stored", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  const writing = one.db.writeRun(async (tx) => {
    await runningRun(tx, "q1");
    await lapse(two, "one");
    assert.deepEqual(ids(await two.nodes.claim(1, [])), ["q1"]);
    await tx.update("queryState", { id: "q1", changes: { subtitle: "late" } });
  });
  await assert.rejects(writing, TakenOverError);
  assert.deepEqual(await two.sql("SELECT subtitle FROM query_state"), [{ subtitle: null }]);
});

check("a node does not take a branch on which it still works", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await lapse(two, "one");
  await two.nodes.claim(1, []);
  await lapse(one, "two");
  await revive(one);
  assert.deepEqual(await one.nodes.claim(1, [a]), []);
  assert.equal((await one.nodes.claim(1, []))[0]?.epoch, 3);
});

check("a node that could not report for a while takes nothing of others", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  for (const name of ["one", "two"]) await lapse(two, name);
  await two.nodes.beat();
  assert.deepEqual(await two.nodes.claim(1, []), []);
});

check("a released run goes to another node at once, and only its holder can release it", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await one.nodes.drain();
  await two.nodes.release({ queryId: "q1", epoch: 1 });
  assert.deepEqual(await two.nodes.claim(1, []), []);
  await one.nodes.release({ queryId: "q1", epoch: 1 });
  assert.deepEqual(await one.nodes.claim(1, []), [], "a node that drains takes nothing");
  const [taken] = await two.nodes.claim(1, []);
  assert.deepEqual([taken?.epoch, taken?.lost, taken?.losses], [2, false, 0]);
  assert.equal(await one.nodes.withdraw("q1"), false);
});

check("losses are those of one step: they begin anew after an iteration that ended", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  const nodes = [one, two];
  const lose = async (at: number): Promise<number | undefined> => {
    const [holder, next] = [nodes[at % 2] ?? one, nodes[(at + 1) % 2] ?? two];
    await revive(next);
    await lapse(next, holder === one ? "one" : "two");
    const [taken] = await next.nodes.claim(1, []);
    return taken?.losses;
  };
  assert.deepEqual([await lose(0), await lose(1)], [1, 2]);
  await iterate(one.store, { queryId: "q1", position: 0, blocks: [] });
  assert.deepEqual([await lose(2), await lose(3), await lose(4)], [1, 2, 3]);
});

check("a request that must be alone is refused, and one that waits can be withdrawn", async ({ one, two, a, b }) => {
  const alone = { refuseWhenBusy: true };
  const both = await Promise.allSettled([
    one.nodes.accept(job("q1", a, alone)),
    two.nodes.accept(job("q2", a, alone)),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const [waiting] = await two.nodes.jobs((await two.store.findConversation(a))?.conversationId ?? "");
  assert.equal(await two.nodes.withdraw(waiting?.queryId ?? ""), true);
  await one.nodes.accept(job("q3", a, alone));
  await one.store.beginQuery(newQuery(b, "of a process that is not a node"));
  await assert.rejects(two.nodes.accept(job("q4", b, alone)), BusyError);
});

check("a request waits for a node that runs its branch, but not for another process", async ({ one, two, a, b }) => {
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  await two.nodes.accept(job("q2", a));
  await begin(one, "q3", b);
  await assert.rejects(two.nodes.accept(job("q4", b)), (error) => {
    return error instanceof BusyError && /another process \(\d+ on .+\) runs another request/.test(error.message);
  });
  await end(one, "q3");
  await two.nodes.accept(job("q4", b));
});

check("a key stands for one request on all nodes", async ({ one, two, a }) => {
  const requestKey = { branchId: a, key: "k", fingerprint: "f" };
  const both = await Promise.allSettled([
    one.nodes.accept(job("q1", a, { requestKey })),
    two.nodes.accept(job("q2", a, { requestKey })),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const known = await two.store.keyedQuery(a, "k");
  const [taken] = await one.nodes.claim(1, []);
  assert.equal(known?.queryId, taken?.queryId);
  await one.store.beginQuery({ ...newQuery(a, "x"), queryId: taken?.queryId, requestKey });
  assert.deepEqual(await two.store.keyedQuery(a, "k"), { queryId: taken?.queryId, fingerprint: "f" });
});

check("a request prefers the node that ran its branch last, unless that drains", async ({ one, url, a }) => {
  await using patient = await testNode(url, "three", { graceMs: 3_600_000 });
  for (const id of ["q1", "q2", "q3"]) await one.nodes.accept(job(id, a));
  for (const id of ["q1", "q2"]) {
    assert.deepEqual(ids(await one.nodes.claim(1, [])), [id]);
    await begin(one, id, a);
    await end(one, id);
    assert.deepEqual(await patient.nodes.claim(1, []), []);
  }
  await one.nodes.drain();
  assert.deepEqual(ids(await patient.nodes.claim(1, [])), ["q3"]);
});

check("a process that starts ends no run that a node will continue, and cannot take its branch", async (rig) => {
  const { one, two, a } = rig;
  await one.nodes.accept(job("q1", a));
  await one.nodes.claim(1, []);
  await begin(one, "q1", a);
  await lapse(two, "one");
  assert.equal(await two.store.sweepLost(() => false), 0);
  await two.sql("UPDATE lease SET heartbeat_at = 0");
  await assert.rejects(two.store.beginQuery(newQuery(a, "y", { owner: { ...OWNER, pid: 1 } })), BusyError);
  assert.equal((await two.store.query("q1"))?.running, true);
});

check(
  "what is older than told is forgotten: events, commands of ended queries, lost nodes",
  async ({ one, two, a }) => {
    await one.nodes.accept(job("q1", a));
    await one.nodes.claim(1, []);
    await begin(one, "q1", a);
    await one.nodes.publish([{ queryId: "q1", number: 1, body: "{}" }]);
    await one.nodes.send({ id: "c", queryId: "q1", kind: "cancel", body: "" });
    await end(one, "q1");
    await lapse(one, "two");
    const left = async () => {
      const tables = ["event", "command", "warm", "node"].map((name) => `(SELECT count(*) FROM ${name}) AS ${name}`);
      return Object.values((await one.sql(`SELECT ${tables.join()}`))[0] ?? {});
    };
    await one.nodes.trim(3_600_000);
    assert.deepEqual(await left(), [1, 1, 1, 1]);
    await two.nodes.beat();
    await one.nodes.trim(0);
    assert.deepEqual(await left(), [0, 0, 0, 0]);
    await one.nodes.beat();
    assert.deepEqual(await left(), [0, 0, 0, 1], "a node that comes back reports itself again");
  },
);

check("an error of the database is one of the store", async ({ one, a }) => {
  await one.sql("ALTER TABLE job ADD CHECK (request_key <> 'refused')");
  const requestKey = { branchId: a, key: "refused", fingerprint: "f" };
  await assert.rejects(one.nodes.accept(job("q1", a, { requestKey })), StoreError);
});

check("the time of a query stands still while it waits for the user, whichever node asked", async ({ one, two, a }) => {
  await one.nodes.accept(job("q1", a));
  const [first] = await one.nodes.claim(1, []);
  const question = { id: "1", extension: "x", what: "w", why: "", scope: "s" };
  await one.nodes.setQuestions(first ?? assert.fail(), [question]);
  await two.sql("UPDATE job SET begun_at = begun_at - interval '1 hour', asked_at = asked_at - interval '59 minutes'");
  const { conversationId } = await two.store.findConversation(a) ?? assert.fail();
  assert.deepEqual((await two.nodes.jobs(conversationId)).flatMap(({ questions }) => questions), [question]);
  await lapse(two, "one");
  const [taken] = await two.nodes.claim(1, []);
  const { elapsedMs = 0 } = taken ?? {};
  assert.ok(elapsedMs >= 60_000 && elapsedMs < 120_000, `${elapsedMs}`);
});
