import assert from "node:assert/strict";
import { faultOf, SHUTDOWN, StoreError, UsageError } from "../../../src/domain/errors.ts";
import type { ApprovalQuestion } from "../../../src/domain/query/approval.ts";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";
import { replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { relay } from "../../persistence/postgres/_relayed.ts";
import { startNode, type TestNode } from "./_nodes.ts";

const test = await postgresTests();

interface Rig {
  readonly postgres: Postgres;
  readonly url: string;
  start(name: string, replies: readonly ScriptedReply[], settings?: object): Promise<TestNode>;
}

function check(name: string, work: (rig: Rig) => Promise<void>): void {
  // A dead process leaves its pool of connections.
  const sanitizers = { sanitizeOps: false, sanitizeResources: false };
  test(name, async (postgres) => {
    const url = await postgres.createDatabase();
    const start: Rig["start"] = (name, replies, settings = {}) => startNode(postgres, { url, name, replies, settings });
    await work({ postgres, url, start });
  }, sanitizers);
}

function held() {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const scripted = () => {
    resolve();
    return { text: "", delayMs: 3_600_000 };
  };
  return { asked, scripted };
}

const quiet = { signal: new AbortController().signal, emit: () => {} };

check("a question is shown and answered on any node; the first answer counts", async ({ start }) => {
  const replies = [replyJson("const said = await asking.open()"), replyJson([], { final: "{{said}}" })];
  await using one = await start("one", replies);
  const { branch, conversations } = one.engine;
  const asked = Promise.withResolvers<ApprovalQuestion>();
  const never = new Promise<never>(() => {});
  const emit = (event: QueryEvent): void => event.type === "approval_requested" ? asked.resolve(event) : undefined;
  const result = conversations.ask(branch, "ask", { ...quiet, emit, approve: () => never });
  const { id } = await asked.promise;
  await using two = await start("two", []);
  const { shared } = two.engine.conversations;
  const questions = async () => await shared?.questions(branch.conversationId) ?? [];
  // Questions are stored while the query runs.
  await until(async () => (await questions()).length === 1);
  const listed = await questions();
  assert.deepEqual(listed.map((question) => [question.id, question.what]), [[id, "open doors"]]);
  const no = { decision: "no", reason: "it is late" } as const;
  assert.equal(await shared?.answer(branch.conversationId, "another", no), false);
  assert.equal(await shared?.answer(branch.conversationId, id, no), true);
  assert.equal(await shared?.answer(branch.conversationId, id, { ...no, decision: "once" }), false);
  assert.match((await result).answer, /it is late/);
  await until(async () => (await questions()).length === 0);
});

check("what a lost node has spent and the iterations that it used count for the one that continues", async (rig) => {
  const second = held();
  await using one = await rig.start("one", [replyJson("const a = 1"), second.scripted]);
  const { branch, conversations } = one.engine;
  const stored = Promise.withResolvers<void>();
  const emit = ({ type }: QueryEvent): void => type === "iteration_finished" ? stored.resolve() : undefined;
  void conversations.ask(branch, "count", { ...quiet, emit, maxIterations: 2 }).catch(() => {});
  await Promise.all([stored.promise, second.asked]);
  await one.die();
  await using two = await rig.start("two", [replyJson("const b = a + 1"), replyJson([], { final: "{{b}}" })]);
  const follow = await lastOf(two, branch.conversationId);
  assert.match(two.engine.context(0), /^\[iter 2\/2/);
  assert.match(two.engine.context(1), /last call/);
  assert.deepEqual([follow.reason, follow.answer, follow.usage.calls], ["max_iterations", "2", 3]);
});

check("a query is continued whatever characters its events have", async ({ start }) => {
  const first = held();
  await using one = await start("one", [first.scripted]);
  const { branch, conversations } = one.engine;
  void conversations.ask(branch, "count \0 \ud800", quiet).catch(() => {});
  await first.asked;
  await one.die();
  await using two = await start("two", [replyJson([], { final: "1" })]);
  assert.equal((await lastOf(two, branch.conversationId)).answer, "1");
});

check("the time limit of a query goes on after its node was lost", async ({ postgres, start, url }) => {
  const first = held();
  await using one = await start("one", [first.scripted]);
  const { branch, conversations } = one.engine;
  void conversations.ask(branch, "count", { ...quiet, limits: { costUsd: null, wallMs: 3_600_000 } }).catch(() => {});
  await first.asked;
  await one.die();
  await postgres.sql("UPDATE job SET begun_at = begun_at - interval '2 hours'", url);
  await using two = await start("two", []);
  assert.equal((await lastOf(two, branch.conversationId)).reason, "limit_time");
});

check("a request that ends one node after the other is given up", async ({ postgres, start, url }) => {
  const first = held();
  await using one = await start("one", [first.scripted]);
  const { branch, conversations } = one.engine;
  void conversations.ask(branch, "count", quiet).catch(() => {});
  await first.asked;
  await one.die();
  await postgres.sql("UPDATE job SET losses = 2", url);
  await using two = await start("two", []);
  const result = await lastOf(two, branch.conversationId);
  assert.deepEqual([result.status, result.reason], ["error", "defect"]);
  assert.match(
    result.answer,
    /^Cannot finish the request: 3 nodes in a row ended while they.*; the logs of the nodes may give the reason$/,
  );
});

check(
  "a node that ends does not wait for a lost database longer than it waits for its queries",
  async ({ postgres, start }) => {
    const first = held();
    await using one = await start("one", [first.scripted]);
    const { branch, conversations } = one.engine;
    const asked = conversations.ask(branch, "count", quiet);
    await first.asked;
    await postgres.stop("immediate");
    try {
      const ends = Promise.allSettled([asked, conversations.ask(branch, "more", quiet)]);
      await conversations.shared?.drain(1);
      for (const end of await ends) assert.ok(end.status === "rejected" && end.reason instanceof StoreError);
      await one.engine.close();
    } finally {
      await postgres.start();
    }
  },
);

check("a node that ends gives up a silent database before the time is up", async ({ postgres, url }) => {
  await using between = await relay(postgres);
  const first = held();
  const replies = [first.scripted];
  await using one = await startNode(postgres, { url, through: between.url(url), name: "one", replies });
  const { branch, conversations } = one.engine;
  const asked = assert.rejects(conversations.ask(branch, "count", quiet), StoreError);
  await first.asked;
  between.mute();
  await one.node.drain(3_600_000, 3_600_000);
  await asked;
});

check("the only node gives its queries time to end, and another node takes them at once", async ({ start }) => {
  const working = async (node: TestNode) => {
    const { branch, conversations, store } = node.engine;
    const step = Promise.withResolvers<void>();
    const emit = ({ type }: QueryEvent): void => type === "iteration_started" ? step.resolve() : undefined;
    const asked = conversations.ask(branch, "count", { ...quiet, emit });
    asked.catch(() => {});
    await step.promise;
    const ended = async () => (await store.queries(branch.branchId)).at(-1)?.status;
    return { asked, branch, ended };
  };
  const release = Promise.withResolvers<void>();
  const replies = [{ text: replyJson("const a = 1"), after: release.promise }, replyJson([], { final: "{{a}}" })];
  await using one = await start("one", replies);
  const alone = await working(one);
  const drained = one.node.drain(3_600_000, 1);
  release.resolve();
  await drained;
  assert.deepEqual([await alone.ended(), (await alone.asked).answer], ["done", "1"]);

  const again = Promise.withResolvers<void>();
  await using two = await start("two", [{ text: replyJson("const b = 2"), after: again.promise }]);
  const left = await working(two);
  await using three = await start("three", [replyJson([], { final: "{{b}}" })]);
  const leaving = two.node.drain(3_600_000, 1);
  again.resolve();
  await leaving;
  assert.equal((await left.asked).answer, "2");
  assert.equal(three.engine.provider.requests.length, 1);
});

check("a client of a query that continues after the shutdown reads this instead of a cancellation", async (rig) => {
  const first = held();
  await using one = await rig.start("one", [first.scripted]);
  const { branch, conversations } = one.engine;
  const controller = new AbortController();
  const asked = conversations.ask(branch, "count", { ...quiet, signal: controller.signal });
  await first.asked;
  await one.node.drain(1);
  controller.abort(SHUTDOWN);
  await assert.rejects(
    asked,
    (error) => /continues on another server or after the restart/.test(faultOf(error)?.message ?? ""),
  );
});

check("a request that cannot begin is refused where it was made", async ({ start }) => {
  await using one = await start("one", [replyJson([], { final: "1" })]);
  const { branch, conversations } = one.engine;
  const { queryId } = await conversations.ask(branch, "count", quiet);
  await one.engine.store.deleteConversation(branch.conversationId);
  await assert.rejects(conversations.retry(queryId, quiet), UsageError);
});

async function lastOf({ engine }: TestNode, conversationId: string) {
  const { store, conversations: { shared } } = engine;
  const queries = await store.queries((await store.findConversation(conversationId))?.branchId ?? "");
  const run = await shared?.follow(queries.at(-1)?.queryId ?? "", quiet.signal);
  for await (const { event } of run?.events(0) ?? []) {
    if ("result" in event && event.type !== "block_finished") return event.result;
  }
  throw new Error("Cannot find the end of the query");
}
