/** Two servers on one database that claim to be different processes. */
import assert from "node:assert/strict";
import { QueryProgress } from "../../../src/domain/query/query_progress.ts";
import { type EnvironmentView, fn, z } from "../../../src/extension/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { sample } from "../../extension/_sample.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { gated } from "../../e2e/page/_gate.ts";
import { final, replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import type { EngineOptions } from "../../helpers/engine.ts";
import { backgroundCommands } from "../../helpers/background_command.ts";
import { until } from "../../helpers/until.ts";
import { type SseEvent, sseEvents } from "../../helpers/wires/sse_events.ts";
import { withDatabase } from "../../helpers/with_database.ts";
import { allEvents, type Rig, SSE, startRig } from "./_rig.ts";

const KEY = { "idempotency-key": "k" };
const REST = { ...KEY, "x-vis-resume": "true" };

class Servers {
  readonly #path: string;
  readonly #alive = new Set<number>();
  readonly looks = new Map<number, number>();

  constructor(path: string) {
    this.#path = path;
  }

  async start(
    pid: number,
    replies: readonly ScriptedReply[],
    options: { at?: number } & Pick<EngineOptions, "extensions"> = {},
  ) {
    this.#alive.add(pid);
    const store = this.#counted(pid, await openStore({ path: this.#path, isAlive: ({ pid }) => this.#alive.has(pid) }));
    const owner = { host: "here", space: "a boot", pid, started: "1", session: 0 };
    const { at = -1, ...more } = options;
    const gate = gated(replies, { at });
    const rig = await startRig([], { engine: { store, owner, provider: gate.provider, ...more } });
    return { rig, go: gate.open, crash: () => void this.#alive.delete(pid) };
  }

  #counted(pid: number, store: Store): Store {
    // The token of a single server sees every tenant.
    const all = store.of(null);
    const query = all.query.bind(all);
    Object.assign(all, {
      query: (id: string) => {
        this.looks.set(pid, (this.looks.get(pid) ?? 0) + 1);
        return query(id);
      },
    });
    return store;
  }
}

const withServers = (work: (servers: Servers) => Promise<void>) => () =>
  withDatabase((path) => work(new Servers(path)));

const messages = (id: string): string => `/api/v1/conversations/${id}/messages`;
const iterationsOf = async (rig: Rig, id: string): Promise<number> =>
  (await (await rig.ask(`/api/v1/conversations/${id}/queries`)).json()).items[0]?.iterations ?? 0;

Deno.test(
  "a key of a query that another server runs gives its result and its events once it has ended",
  withServers(async (servers) => {
    const one = await servers.start(1, [replyJson("1 + 1"), final("It is 2")], { at: 1 });
    const other = await servers.start(2, []);
    await using first = one.rig;
    await using second = other.rig;
    const id = await first.conversation();
    const asked = first.post(messages(id), { request: "x" }, KEY);
    await until(async () => await iterationsOf(second, id) === 1);
    const detail = await (await second.ask(`/api/v1/conversations/${id}`)).json();
    const { items: [query] } = await (await second.ask(`/api/v1/conversations/${id}/queries`)).json();
    assert.deepEqual([query.status, query.reason, query.queryId], ["running", null, detail.running]);
    const own = await (await first.ask(`/api/v1/conversations/${id}`)).json();
    assert.deepEqual([detail.runningElsewhere, own.runningElsewhere], [true, false]);
    const { items: [listed] } = await (await second.ask("/api/v1/conversations")).json();
    assert.equal(listed.running, true);
    assert.equal((await second.post(messages(id), { request: "y" })).status, 409);
    assert.equal((await second.post(messages(id), { request: "y" }, KEY)).status, 422);
    const waiting = second.post(messages(id), { request: "x" }, KEY);
    const following = second.post(messages(id), { request: "x" }, { ...KEY, ...SSE }).then(allEvents);
    const watching = second.ask(`/api/v1/conversations/${id}/queries/${detail.running}/events`).then(allEvents);
    assert.equal((await waiting).status, 200, "its head comes at once");
    one.go();
    const result = await (await asked).json();
    assert.deepEqual([result.status, result.answer], ["done", "It is 2"]);
    assert.deepEqual(await (await waiting).json(), result);
    for (const events of [await following, await watching]) {
      const [begun] = events.filter(({ event }) => event === "iteration_started").map(({ data }) => data);
      assert.ok(
        begun?.type === "iteration_started" && begun.budget > 2,
        "the running step has its number and the limit",
      );
      assert.deepEqual([begun.iteration, begun.used], [2, 2]);
      const stored = events.filter(({ event }) => event !== "iteration_started");
      assert.deepEqual(stored.map(({ event }) => event), [
        ...["started", "block_started", "block_finished", "iteration_finished", "iteration_finished", "final"],
      ]);
      assert.deepEqual(stored.map(({ id }) => id), stored.map((_, at) => `r${at + 1}`));
    }
    const after = await (await second.ask(`/api/v1/conversations/${id}`)).json();
    assert.equal(after.running, null);
  }),
);

const TASKS = `$plan = [{ task: "Read", done: true }, { task: "Build" }]`;
const BUILT = `await printer.note("a"); await printer.note("b"); await printer.print()`;

/** Runs a query whose first step waits within its second block, and follows the query from another server. */
async function followed(
  servers: Servers,
  run: (query: {
    readonly events: AsyncGenerator<SseEvent>;
    readonly own: Promise<readonly SseEvent[]>;
    readonly again: (lastId: string) => Promise<Response>;
    readonly go: () => void;
  }) => Promise<void>,
): Promise<void> {
  const gate = Promise.withResolvers<string>();
  const printer = sample({
    namespace: "test.printer",
    symbols: [
      fn("note", () => Promise.resolve("noted"), {
        ...{ doc: "Notes.", args: z.tuple([z.string()]), returns: "string" },
        action: { doing: "noting", done: "noted", things: "notes" },
      }),
      fn("print", async ({ showOutput }: EnvironmentView) => {
        showOutput?.(new TextEncoder().encode("built 3 of 9\n"));
        return await gate.promise;
      }, { doc: "Prints.", untimed: true, args: z.tuple([]), returns: "string" }),
    ],
  });
  const one = await servers.start(1, [
    replyJson([TASKS, BUILT], { thinking: "I build." }),
    replyJson(`$plan[1].done = true`, { final: "Built" }),
  ], { extensions: [printer] });
  const other = await servers.start(2, []);
  await using first = one.rig;
  await using second = other.rig;
  const id = await first.conversation();
  const own = first.post(messages(id), { request: "x" }, SSE).then(allEvents);
  const running = async () => (await (await second.ask(`/api/v1/conversations/${id}`)).json()).running;
  await until(async () => await running() !== null);
  const path = `/api/v1/conversations/${id}/queries/${await running()}/events`;
  const again = (lastId: string) => second.ask(path, { headers: { "last-event-id": lastId } });
  await run({ events: sseEvents(await second.ask(path)), own, again, go: () => gate.resolve("built") });
}

Deno.test(
  "a server sends the running step of a query of another server: its thinking, its calls, its output and its tasks",
  withServers((servers) =>
    followed(servers, async ({ events, own, go }) => {
      const seen: SseEvent[] = [];
      const [progress, whole] = [new QueryProgress(), new QueryProgress()];
      for await (const one of events) {
        seen.push(one);
        progress.take(one.data);
        if (one.event !== "call_output") continue;
        const { thinking, blocks: [, block] = [] } = progress.step ?? {};
        assert.deepEqual([thinking, block?.tally.text, block?.printing], ["I build.", "noted 2 notes", "built 3 of 9"]);
        assert.deepEqual(progress.plan.map(({ state }) => state), ["done", "now"]);
        go();
      }
      for (const { data } of await own) whole.take(data);
      assert.deepEqual([progress.plan, progress.plan.map(({ state }) => state)], [whole.plan, ["done", "done"]]);
      const ends = (all: readonly SseEvent[]) =>
        all.flatMap(({ data }) => {
          if (data.type === "host_call") return data.phase === "end" ? [`${data.name} ${data.action?.subject}`] : [];
          return /finished|final/.test(data.type) ? [data.type] : [];
        });
      assert.deepEqual(ends(seen), ends(await own), "no event comes twice");
    })
  ),
);

Deno.test(
  "a client that loses the connection within a step of another server begins again, and otherwise with the next row",
  withServers((servers) =>
    followed(servers, async ({ events, again, go }) => {
      const ids: string[] = [];
      for await (const { event, id } of events) {
        ids.push(id);
        if (event !== "call_output") continue;
        assert.equal(id, "");
        const [begun] = await Array.fromAsync({
          async *[Symbol.asyncIterator]() {
            for await (const one of sseEvents(await again(id))) return yield one;
          },
        });
        assert.deepEqual([begun?.event, begun?.id], ["started", "r1"]);
        go();
      }
      assert.match(ids.at(-1) ?? "", /^r\d+$/);
      assert.equal((await again(ids.at(-1) ?? "")).status, 204);
      const finished = (await allEvents(await again("r1"))).find(({ event }) => event === "iteration_finished");
      const rest = await allEvents(await again(finished?.id ?? ""));
      assert.deepEqual([...new Set(rest.map(({ data }) => data.iteration))], [2, null]);
    })
  ),
);

Deno.test(
  "a server lists and stops the background commands of a query of another server while a client follows the query",
  withServers(async (servers) => {
    const { engine, print } = backgroundCommands();
    const replies = [replyJson('commands.start("npm run dev")'), final("Started")];
    const one = await servers.start(1, replies, { at: 1, ...engine });
    const other = await servers.start(2, []);
    await using first = one.rig;
    await using second = other.rig;
    const id = await first.conversation();
    const commands = async (rig: Rig): Promise<readonly { readonly id: string; readonly output: string }[]> =>
      (await (await rig.ask(`/api/v1/conversations/${id}/commands`)).json()).items;
    const asked = first.post(messages(id), { request: "x" });
    await until(async () => await iterationsOf(second, id) === 1);
    assert.deepEqual(await commands(second), []);
    const { running } = await (await second.ask(`/api/v1/conversations/${id}`)).json();
    const following = await second.ask(`/api/v1/conversations/${id}/queries/${running}/events`);
    await until(async () => (await commands(second)).length === 1);
    print("ready\n");
    await until(async () => (await commands(second))[0]?.output === "ready\n");
    assert.deepEqual(await commands(second), await commands(first));
    const [found] = await commands(second);
    const stopped = await second.post(`/api/v1/conversations/${id}/commands/${found?.id}/stop`);
    assert.equal(stopped.status, 200);
    await until(async () => (await commands(first)).length === 0);
    await until(async () => (await commands(second)).length === 0);
    one.go();
    assert.equal((await (await asked).json()).answer, "Started");
    assert.equal((await allEvents(following)).at(-1)?.event, "final");
    assert.deepEqual(await commands(second), []);
  }),
);

Deno.test(
  "a server that runs one branch answers and cancels also the query that another server runs in another branch",
  withServers(async (servers) => {
    const one = await servers.start(1, [final("begun"), final("never")], { at: 1 });
    const asking = [replyJson("(await asking.open()).allowed"), final("never")];
    const other = await servers.start(2, asking, { at: 1, extensions: [ASKING] });
    await using first = one.rig;
    await using second = other.rig;
    const id = await first.conversation(), path = `/api/v1/conversations/${id}`;
    const { queryId } = await (await first.post(messages(id), { request: "x" })).json();
    const { branchId: original } = await (await first.ask(path)).json();
    const { branchId } = await (await first.post(`${path}/fork`, { queryId })).json();
    const own = first.post(messages(original), { request: "y" });
    const others = second.post(messages(branchId), { request: "z", approvals: "ask" });
    const questions = async () => (await (await first.ask(`${path}/approvals`)).json()).items;
    await until(async () => (await questions()).length === 1);
    await until(async () => (await (await first.ask(path)).json()).running !== null);
    const [question] = await questions();
    const answered = await first.post(`${path}/approvals/${question.id}`, { decision: "once" });
    assert.equal(answered.status, 200);
    await until(async () => await iterationsOf(second, branchId) === 1);
    assert.deepEqual(await (await first.post(`${path}/cancel`)).json(), { cancelled: 2 });
    const reasons = await Promise.all([own, others].map(async (asked) => (await (await asked).json()).reason));
    assert.deepEqual(reasons, ["cancelled", "cancelled"]);
  }),
);

Deno.test(
  "whoever leaves while a query of another server is waited for is not looked for any more",
  withServers(async (servers) => {
    const one = await servers.start(1, [replyJson("1 + 1"), final("2")], { at: 1 });
    const other = await servers.start(2, []);
    await using first = one.rig;
    await using second = other.rig;
    const id = await first.conversation();
    const asked = first.post(messages(id), { request: "x" }, KEY);
    await until(async () => await iterationsOf(second, id) === 1);
    const looks = (): number => servers.looks.get(2) ?? 0;
    for (const headers of [KEY, { ...KEY, ...SSE }]) {
      const response = await second.post(messages(id), { request: "x" }, headers);
      const before = looks();
      await until(() => looks() > before + 2);
      await response.body?.cancel();
      let last = -1;
      await until(() => {
        const still = looks() === last;
        last = looks();
        return still;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(looks() <= last + 1, "nobody looks");
    }
    one.go();
    assert.equal((await (await asked).json()).answer, "2");
  }),
);

Deno.test(
  "after a crash a key says what was kept on every server, and the rest is run once where that is asked",
  withServers(async (servers) => {
    const one = await servers.start(1, [replyJson("var kept = 1"), final("never")], { at: 1 });
    const other = await servers.start(2, [replyJson("kept + 1", { final: "kept {{kept}}" })]);
    const third = await servers.start(3, [replyJson("kept + 1", { final: "kept {{kept}}" })]);
    await using first = one.rig;
    await using second = other.rig;
    await using last = third.rig;
    const id = await first.conversation();
    const body = { request: "x", context: "the words" };
    const asked = first.post(messages(id), body, KEY);
    await until(async () => await iterationsOf(second, id) === 1);
    one.crash();
    for (const rig of [second, last]) {
      const lost = await (await rig.post(messages(id), body, KEY)).json();
      assert.deepEqual([lost.status, lost.reason, lost.iterations], ["interrupted", "process_lost", 1]);
      assert.equal(lost.temporary, true);
      assert.match(lost.answer, /1 finished step is kept/);
    }
    const answers = await Promise.all([second, last, second].map((rig) => rig.post(messages(id), body, REST)));
    const results = await Promise.all(answers.map((answer) => answer.json()));
    assert.deepEqual(results.map(({ answer }) => answer), ["kept 1", "kept 1", "kept 1"], JSON.stringify(results));
    assert.equal(new Set(results.map(({ queryId }) => queryId)).size, 1, "it is run once");
    for (const headers of [KEY, REST]) {
      assert.equal((await (await last.post(messages(id), body, headers)).json()).queryId, results[0].queryId);
    }
    const { items } = await (await last.ask(`/api/v1/conversations/${id}/variables/context`)).json();
    assert.equal(items.length, 1, "what was given is there");
    one.go();
    assert.equal((await asked).status, 409, "the one that was taken over says so");
    const { items: queries } = await (await last.ask(`/api/v1/conversations/${id}/queries`)).json();
    assert.deepEqual(queries.map(({ reason }: { reason: string }) => reason), ["process_lost", "answered"]);
  }),
);

Deno.test(
  "a request that is made of two servers at the same moment under one key is run once",
  withServers(async (servers) => {
    const started = await Promise.all([1, 2].map((pid) => servers.start(pid, [final("once")])));
    const [one, two] = started.map(({ rig }) => rig);
    if (!one || !two) return assert.fail();
    await using first = one;
    await using second = two;
    const id = await first.conversation();
    const answers = await Promise.all([first, second].map((rig) => rig.post(messages(id), { request: "x" }, KEY)));
    const results = await Promise.all(answers.map((answer) => answer.json()));
    assert.deepEqual(results.map(({ answer }) => answer), ["once", "once"]);
    assert.equal(results[0].queryId, results[1].queryId);
  }),
);

Deno.test(
  "a repeated request that asks for the rest runs a query after a shutdown of its server, but not after `cancel`",
  withServers(async (servers) => {
    const one = await servers.start(1, [replyJson("var kept = 1"), final("never")], { at: 1 });
    const other = await servers.start(2, [replyJson("kept + 1", { final: "kept {{kept}}" }), final("never")], {
      at: 1,
    });
    await using second = other.rig;
    const id = await second.conversation(), body = { request: "x" };
    const stopped = one.rig.post(messages(id), body, KEY);
    await until(async () => await iterationsOf(second, id) === 1);
    await one.rig.close();
    const { queryId, reason, temporary } = await (await stopped).json();
    assert.deepEqual([reason, temporary], ["cancelled", true]);
    const rest = await (await second.post(messages(id), body, REST)).json();
    assert.equal(rest.answer, "kept 1");
    assert.notEqual(rest.queryId, queryId);
    const events = await second.post(messages(id), { request: "y" }, { "idempotency-key": "l", ...SSE });
    assert.equal((await second.post(`/api/v1/conversations/${id}/cancel`)).status, 200);
    assert.equal((await allEvents(events)).at(-1)?.event, "cancelled");
    const again = await (await second.post(messages(id), { request: "y" }, { ...REST, "idempotency-key": "l" })).json();
    assert.equal(again.reason, "cancelled");
    const { items } = await (await second.ask(`/api/v1/conversations/${id}/queries`)).json();
    assert.equal(items.length, 3, "the cancelled query ran once");
  }),
);
