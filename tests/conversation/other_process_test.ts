/** Two engines on one database that claim to be different processes. */
import assert from "node:assert/strict";
import { TakenOverError } from "../../src/domain/errors.ts";
import type { QueryEvent, QueryResult } from "../../src/domain/query/query_schemas.ts";
import { type EnvironmentView, fn, z } from "../../src/extension/mod.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Branch, Store } from "../../src/persistence/store.ts";
import { abortable } from "../../src/domain/kit/concurrency.ts";
import type { Approve } from "../../src/domain/query/approval.ts";
import { ASKING } from "../helpers/asking_extension.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { QueryProgress } from "../../src/domain/query/query_progress.ts";
import { sample } from "../extension/_sample.ts";
import { final, replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { withDatabase } from "../helpers/with_database.ts";

const say = (word: string): string => {
  const code = `var list = (typeof list === "undefined" ? "" : list + "+") + "${word}"`;
  return replyJson(code, { final: "{{list}}" });
};

class Processes {
  readonly clock = { now: 1_700_000_000_000 };
  readonly #path: string;
  #branch: Branch | null = null;
  #count = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async store(): Promise<Store> {
    return await openStore({ path: this.#path, now: () => this.clock.now });
  }

  async engine(replies: readonly ScriptedReply[], options: EngineOptions = {}): Promise<Engine> {
    const store = options.store ?? await this.store();
    const owner = { host: "here", space: "a boot", pid: ++this.#count, started: "1", session: 0 };
    const engine = await startEngine(replies, { owner, now: () => this.clock.now, ...options, store });
    this.#branch ??= engine.branch;
    return engine;
  }

  async ask({ conversations, events }: Engine, request: string): Promise<QueryResult> {
    const options = { signal: new AbortController().signal, emit: (event: QueryEvent) => void events.push(event) };
    if (!this.#branch) throw new Error("Cannot ask: there is no process");
    return await conversations.ask(this.#branch, request, options);
  }
}

const withProcesses = (work: (all: Processes) => Promise<void>) => () =>
  withDatabase((path) => work(new Processes(path)));

Deno.test(
  "Conversations.ask() begins with what another process stored since, and keeps its child where none did",
  withProcesses(async (all) => {
    let opened = 0;
    const counted: typeof openSandbox = (...given) => {
      opened++;
      return openSandbox(...given);
    };
    await using one = await all.engine([say("a"), say("b"), say("d"), say("e")], { openSandbox: counted });
    await using other = await all.engine([say("c")]);
    assert.equal((await all.ask(one, "1")).answer, "a");
    assert.equal((await all.ask(one, "2")).answer, "a+b");
    assert.equal(opened, 1);
    assert.equal((await all.ask(other, "3")).answer, "a+b+c");
    assert.equal((await all.ask(one, "4")).answer, "a+b+c+d");
    assert.match(one.context(2), /a\+b\+c/, "the model sees the query of the other process");
    assert.equal((await all.ask(one, "5")).answer, "a+b+c+d+e");
    assert.equal(opened, 2);
    const versions = await one.store.variableVersions(one.branch.branchId, "list");
    assert.deepEqual(versions.map(({ image }) => JSON.parse(image.summary.inline ?? "null")), [
      ...["a", "a+b", "a+b+c", "a+b+c+d", "a+b+c+d+e"],
    ]);
  }),
);

Deno.test(
  "Conversations.ask() begins with the variables of before where another process ran the last query again",
  withProcesses(async (all) => {
    await using one = await all.engine([say("a"), say("b"), say("d")]);
    await using other = await all.engine([say("c")]);
    await all.ask(one, "1");
    const { queryId } = await all.ask(one, "2");
    const options = { signal: new AbortController().signal, emit: () => {} };
    assert.equal((await other.conversations.retry(queryId, options)).answer, "a+c");
    assert.equal((await all.ask(one, "3")).answer, "a+c+d");
  }),
);

/** Returns the store of a process that stops at a method, and continues once another process has the branch. */
function stopping(
  store: Store,
  { method, takeOver }: { readonly method: keyof Store; readonly takeOver: () => Promise<void> },
): Store {
  let stopped: Promise<void> | null = null;
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      return async (...args: unknown[]) => {
        if (name === method) stopped ??= takeOver();
        await stopped;
        return await Reflect.apply(found, target, args);
      };
    },
  });
}

for (const method of ["previousTurn", "beginIteration", "endQuery"] as const) {
  Deno.test(
    `a query whose conversation is taken over before ${method}() stores nothing more, and says so once`,
    withProcesses(async (all) => {
      const store = stopping(await all.store(), {
        method,
        takeOver: async () => {
          all.clock.now += 120_001;
          assert.equal((await all.ask(other, "theirs")).status, "done");
        },
      });
      await using one = await all.engine([], { store, scripted: { otherwise: say("a") } });
      await using other = await all.engine([say("b")]);
      await assert.rejects(all.ask(one, "mine"), TakenOverError);
      const ends = one.events.filter(({ type }) => ["final", "failed", "cancelled"].includes(type));
      assert.deepEqual(ends.map(({ type }) => type), ["failed"]);
      const [end] = ends;
      const result = end?.type === "failed" ? end.result : null;
      assert.deepEqual([result?.status, result?.reason], ["interrupted", "process_lost"]);
      assert.match(result?.answer ?? "", /another process ended it or took it over/);
      const queries = await one.conversations.queries(one.branch);
      assert.deepEqual(queries.map(({ reason }) => reason), ["process_lost", "answered"]);
      assert.equal((await all.ask(one, "again")).answer, "b+a");
      assert.deepEqual(one.logged.filter(({ event }) => event === "query_defect"), []);
    }),
  );
}

const looked = () => new Promise((resolve) => setTimeout(resolve, 10));

/** The user never answers in the process that asks. */
const never: Approve = (_question, signal) => abortable(new Promise<never>(() => {}), signal);

Deno.test(
  "another process answers a question of a query, sends it messages and cancels it",
  withProcesses(async (all) => {
    await using one = await all.engine([
      replyJson("const said = await asking.open(); said.allowed"),
      { text: final("never"), after: new Promise<void>(() => {}) },
    ], { extensions: [ASKING] });
    await using other = await all.engine([]);
    const { branch } = one, { conversations: { elsewhere }, conversations, store: { states } } = other;
    const messages = () => states.list({ namespace: "vis/messages", branchId: null }, { limit: 9 });
    const result = one.ask("x", { approve: never });
    let questions = await elsewhere.questions(branch.conversationId);
    for (; questions.length === 0; await looked()) questions = await elsewhere.questions(branch.conversationId);
    const [{ id, what } = { id: "", what: "" }] = questions;
    assert.equal(what, "open doors");
    const withdrawn = new AbortController();
    const none = conversations.steer(branch, "forget this", { signal: withdrawn.signal });
    withdrawn.abort();
    assert.equal(await none, false);
    const steered = conversations.steer(branch, "be quick");
    while ((await messages()).length === 0) await looked();
    const yes = { decision: "once", reason: "" } as const;
    assert.equal(await elsewhere.answer(branch.conversationId, "unknown", yes), false);
    assert.equal(await elsewhere.answer(branch.conversationId, id, yes), true);
    assert.equal(await steered, true);
    assert.match(one.context(1), /The user says meanwhile: be quick/);
    assert.doesNotMatch(one.context(1), /forget this/);
    assert.match(one.context(1), /→ true/);
    assert.equal(await elsewhere.answer(branch.conversationId, id, yes), false, "the first answer counts");
    assert.deepEqual(await elsewhere.questions(branch.conversationId), []);
    assert.equal(await elsewhere.cancel(branch.conversationId), 1);

    assert.deepEqual([(await result).status, (await result).reason], ["interrupted", "cancelled"]);
    assert.equal(await elsewhere.cancel(branch.conversationId), 0);
    assert.equal(await conversations.steer(branch, "late"), false);
    assert.deepEqual(await messages(), []);
  }),
);

Deno.test(
  "another process sees the running step with the output of its command, and the end of the query leaves no trace",
  withProcesses(async (all) => {
    const gate = Promise.withResolvers<string>();
    const printer = sample({
      namespace: "test.printer",
      symbols: [
        fn("print", async ({ showOutput }: EnvironmentView) => {
          showOutput?.(new TextEncoder().encode("built 3 of 9\n"));
          return await gate.promise;
        }, { doc: "Prints.", untimed: true, args: z.tuple([]), returns: "string" }),
      ],
    });
    await using one = await all.engine([
      replyJson("answer(await printer.print())", { thinking: "I build." }),
    ], { extensions: [printer] });
    await using other = await all.engine([]);
    const { branch } = one;
    const result = one.ask("x");
    const step = other.conversations.elsewhere.watch(branch);
    const seen: QueryEvent[][] = [];
    const printed = () => seen.some((events) => events.some(({ type }) => type === "call_output"));
    for (; !printed(); await looked()) {
      const events = await step.newest();
      if (events) seen.push([...events]);
    }
    assert.equal(await step.newest(), null, "nothing has changed since");
    const progress = new QueryProgress();
    for (const event of seen.at(-1) ?? []) progress.take(event);
    assert.deepEqual([progress.step?.thinking, progress.step?.blocks[0]?.printing], ["I build.", "built 3 of 9"]);
    assert.ok(one.events.every(({ type }) => type !== "call_output"), "the own channel did not want the output");

    gate.resolve("built");
    assert.equal((await result).answer, "built");
    const { states } = other.store;
    assert.deepEqual(await states.list({ namespace: "vis/messages", branchId: null }, { limit: 9 }), []);
    assert.equal(await step.newest(), null);
    await step.close();
  }),
);

Deno.test(
  "a process shares its running step only while another process watches the step",
  withProcesses(async (all) => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using one = await all.engine([
      { text: replyJson("1"), after: first.promise },
      { text: final("Done: yes"), after: second.promise },
    ]);
    await using other = await all.engine([]);
    const { branch } = one, { conversations: { elsewhere }, conversations, store: { states } } = other;
    const place = { namespace: "vis/messages", branchId: null };
    const shared = () => states.get(place, { key: `step ${branch.branchId}` });
    /** When the process has taken a message, it has looked at all earlier messages. */
    const hasLooked = async (text: string): Promise<void> => {
      const withdrawn = new AbortController();
      const sent = conversations.steer(branch, text, { signal: withdrawn.signal });
      while (!one.events.some((event) => event.type === "steering" && event.texts.includes(text))) await looked();
      withdrawn.abort();
      await sent;
    };
    const result = one.ask("x");
    while (one.events.length === 0) await looked();
    await hasLooked("one");
    assert.equal(await shared(), null);
    const step = elsewhere.watch(branch);
    while (await step.newest() === null) await looked();
    await step.close();
    await hasLooked("two");
    const before = await shared();
    first.resolve();
    while (!one.events.some(({ iteration }) => iteration === 2)) await looked();
    await hasLooked("three");
    assert.deepEqual(await shared(), before);
    second.resolve();
    await result;
    assert.deepEqual(await states.list(place, { limit: 9 }), []);
  }),
);
