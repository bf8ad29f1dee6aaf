import assert from "node:assert/strict";
import { MAX_REQUEST_CHARS } from "../../src/conversation/ask_options.ts";
import { BusyError, Cancelled, ConfigError, UsageError } from "../../src/domain/errors.ts";
import { reviewRequest } from "../../src/domain/query/stored_query.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { begun } from "../conformance/store/fixtures.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";

const NEVER = new AbortController().signal;

Deno.test("Conversations.ask() queues queries of one conversation in order", async () => {
  await using engine = await startEngine([
    { text: replyJson("const order = ['first']", { final: "one of two" }), delayMs: 30 },
    replyJson("order.push('second')", { final: "two: {{order}}" }),
  ]);
  const [first, second] = await Promise.all([engine.ask("1"), engine.ask("2")]);
  assert.deepEqual([first.answer, second.status], ["one of two", "done"]);
  assert.match(second.answer, /first[\s\S]*second/);
  const queries = await engine.conversations.queries(engine.branch);
  assert.deepEqual(queries.map(({ text }) => text), ["1", "2"]);
});

Deno.test("requests run only in conversations of served folders, and leave no fork of another conversation", async () => {
  await using engine = await startEngine([replyJson([], { final: "here" })], { workspace: "/here", served: ["/here"] });
  const { conversations, store } = engine;
  assert.equal((await engine.ask("x")).answer, "here");
  const { queryId, ...elsewhere } = await begun(store, { workspace: "/there" });
  const options = { signal: NEVER, emit: () => {} };
  const calls = [
    () => conversations.ask(elsewhere, "x", options),
    () => conversations.ask({ queryId, position: -1 }, "x", options),
    () => conversations.retry(queryId, options),
  ];
  for (const call of calls) {
    await assert.rejects(
      call,
      /it belongs to \/there, and this Vis works in \/here; vis --conversation \S{13} continues it there/,
    );
  }
  assert.equal((await conversations.branches(elsewhere.conversationId)).length, 1);
});

Deno.test("Conversations.ask() that waits for another query ends as soon as it is cancelled", async () => {
  const first = Promise.withResolvers<void>();
  await using engine = await startEngine([
    { text: replyJson([], { final: "first" }), after: first.promise },
    replyJson([], { final: "third" }),
  ]);
  const running = engine.ask("1");
  await until(() => engine.provider.requests.length === 1);
  const gone = new AbortController();
  const waiting = engine.ask("2", { signal: gone.signal });
  const after = engine.ask("3");
  gone.abort();
  await assert.rejects(waiting, Cancelled);
  first.resolve();
  assert.deepEqual([(await running).answer, (await after).answer], ["first", "third"]);
  const queries = await engine.conversations.queries(engine.branch);
  assert.deepEqual(queries.map(({ text }) => text), ["1", "3"]);
});

Deno.test("Conversations.ask() refuses a busy conversation if requested, and only that one", async () => {
  const refused = Promise.withResolvers<void>();
  await using engine = await startEngine([
    { text: replyJson([], { final: "slow but sure" }), after: refused.promise },
    replyJson([], { final: "elsewhere" }),
  ]);
  const slow = engine.ask("slow");
  await until(() => engine.provider.requests.length === 1);
  const options = { signal: NEVER, emit: () => {}, refuseWhenBusy: true };
  await assert.rejects(engine.conversations.ask(engine.branch, "now", options), (error) => {
    assert.ok(error instanceof BusyError);
    assert.match(
      error.message,
      /^Cannot start the request: conversation .* already runs another request; wait until it ends, or cancel it/,
    );
    return true;
  });
  const other = await engine.conversations.create({ title: "other", channel: "test", workspace: "/other" });
  assert.equal((await engine.conversations.ask(other, "x", options)).answer, "elsewhere");
  refused.resolve();
  assert.equal((await slow).answer, "slow but sure");
  assert.equal((await engine.conversations.queries(engine.branch)).length, 1);
  engine.provider.push(replyJson([], { final: "free again" }));
  assert.equal((await engine.conversations.ask(engine.branch, "y", options)).answer, "free again");
});

Deno.test("Conversations.ask() lets no conversation wait for another one's model calls", async () => {
  const count = 12; // A process makes fewer calls of `rlm` at a time.
  await using engine = await startEngine([], {
    scripted: { otherwise: { text: replyJson([], { final: "late" }), delayMs: 60_000 } },
  });
  const controller = new AbortController();
  const options = { signal: controller.signal, emit: () => {} };
  const asked = Array.from({ length: count }, async (_, n) => {
    const branch = await engine.conversations.create({ title: `${n}`, channel: "test", workspace: `/w${n}` });
    return await engine.conversations.ask(branch, "x", options);
  });
  await until(() => engine.provider.requests.length === count);
  controller.abort();
  assert.deepEqual(new Set((await Promise.all(asked)).map(({ reason }) => reason)), new Set(["cancelled"]));
});

Deno.test("Conversations.ask() refuses an empty and an oversized request before anything is stored", async () => {
  await using engine = await startEngine([]);
  for (const request of ["", " \n\t", "x".repeat(MAX_REQUEST_CHARS + 1)]) {
    await assert.rejects(engine.ask(request), UsageError);
  }
  assert.deepEqual(await engine.conversations.queries(engine.branch), []);
});

Deno.test("Conversations.byId() finds by the beginning of an id, and names a missing one", async () => {
  await using engine = await startEngine([]);
  const { conversationId } = engine.branch;
  assert.equal((await engine.conversations.byId(conversationId)).conversationId, conversationId);
  for (const id of ["", "no-such-id", "%", "'"]) {
    await assert.rejects(engine.conversations.byId(id), (error) => error instanceof UsageError);
  }
});

Deno.test("the title of a review names the reviewed changes and the instructions", async () => {
  await using engine = await startEngine(Array.from({ length: 3 }, () => replyJson([], { final: "fine" })));
  const { conversations } = engine;
  for (
    const [target, instructions, title] of [
      ["", "", "Review: uncommitted changes"],
      ["", "focus on bugs", "Review: uncommitted changes, focus on bugs"],
      ["a..b", "", "Review: a..b"],
    ] as const
  ) {
    await conversations.ask({ channel: "test", workspace: "/w" }, reviewRequest(target, instructions), {
      signal: NEVER,
      emit: () => {},
    });
    assert.equal((await conversations.list({ limit: 1 }))[0]?.title, title);
  }
});

Deno.test("Conversations.create() limits the title to one line", async () => {
  await using engine = await startEngine([]);
  const made = await engine.conversations.create({ title: `a\n\nb ${"x".repeat(500)}`, channel: "c", workspace: "/w" });
  assert.ok(made.title.startsWith("a b xxx") && made.title.length <= 100);
});

Deno.test("Conversations.close() ends the child, and the next query starts a new one with all variables", async () => {
  const children: Sandbox[] = [];
  await using engine = await startEngine([
    replyJson("const kept = 1", { final: "kept {{kept}}" }),
    replyJson("kept + 1", { final: "still {{kept}}" }),
  ], {
    openSandbox: async (options) => {
      const child = await openSandbox(options);
      children.push(child);
      return child;
    },
  });
  await engine.ask("1");
  await engine.conversations.close(engine.branch.branchId);
  assert.deepEqual(children.map(({ ended }) => ended), [true]);
  await engine.conversations.close("no-such-branch");
  assert.equal((await engine.ask("2")).answer, "still 1");
  await engine.conversations.closeAll();
  assert.deepEqual(children.map(({ ended }) => ended), [true, true]);
});

Deno.test("Conversations.close() in the middle of a query ends it, and nothing stays running", async () => {
  await using engine = await startEngine([
    replyJson("await new Promise(() => {})"),
    replyJson("1 + 1", { final: "not reached" }),
  ]);
  const running = engine.ask("x");
  await until(() => engine.events.some(({ type }) => type === "block_started"));
  await engine.conversations.close(engine.branch.branchId);
  assert.equal((await running).reason, "cancelled");
  const [query] = await engine.conversations.queries(engine.branch);
  assert.deepEqual([query?.status, query?.running], ["interrupted", false]);
  const iterations = await engine.conversations.iterations(query?.queryId ?? "");
  assert.equal(iterations.some(({ status }) => status === "running"), false);
});

Deno.test("Conversations.closeAll() cancels running queries, and resolves when they are stored", async () => {
  await using engine = await startEngine([replyJson("await new Promise(() => {})")]);
  const running = engine.ask("x");
  await until(() => engine.events.some(({ type }) => type === "block_started"));
  await engine.conversations.closeAll();
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.running, query?.reason], [false, "cancelled"]);
  assert.equal((await running).reason, "cancelled");
});

Deno.test("Conversations.ask() ends the running query at its signal, and the next waiting one is answered", async () => {
  await using engine = await startEngine([
    replyJson("await new Promise(() => {})"),
    replyJson("1 + 1", { final: "two" }),
  ]);
  const controller = new AbortController();
  const running = engine.ask("x", controller);
  await until(() => engine.events.some(({ type }) => type === "block_started"));
  const waiting = engine.ask("y");
  controller.abort();
  assert.equal((await running).reason, "cancelled");
  assert.deepEqual([(await waiting).reason, (await waiting).answer], ["answered", "two"]);
});

Deno.test("Conversations ends a query whose sandbox cannot start, and tries again in the next", async () => {
  let starts = false;
  await using engine = await startEngine([replyJson("1"), replyJson("const n = 5", { final: "{{n}}" })], {
    openSandbox: (options) => starts ? openSandbox(options) : Promise.reject(new ConfigError("no walls")),
  });
  await assert.rejects(engine.ask("1"), /no walls/);
  starts = true;
  assert.equal((await engine.ask("2")).answer, "5");
});

Deno.test("byId() reports that the beginning of an id is ambiguous", async () => {
  await using engine = await startEngine([]);
  const { conversations } = engine;
  const facts = { title: "t", channel: "cli", workspace: "/w" };
  const made = [await conversations.create(facts), await conversations.create(facts)];
  const [first, second] = made.map(({ conversationId }) => conversationId);
  let common = 0;
  while (first?.[common] === second?.[common]) common++;
  const start = first?.slice(0, common) ?? "";
  await assert.rejects(conversations.byId(start), {
    name: "UsageError",
    message: new RegExp(`^Cannot find conversation ${start}: several ids start with it, such as \\w`),
  });
  await assert.rejects(
    conversations.byId("ffffffff"),
    /^UsageError: Cannot find conversation ffffffff: no id starts with it, or several older ids do; vis conversations list shows the ids$/,
  );
  await assert.rejects(
    conversations.byId("fff"),
    /^UsageError: Cannot find conversation fff: the beginning of an id must have at least 8 characters; vis conversations list shows the ids$/,
  );
});
