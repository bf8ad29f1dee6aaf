/** Counts the children while queries begin, end and are abandoned, and at rest. */
import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import { SandboxEnded } from "../../src/domain/errors.ts";
import type { Branch } from "../../src/persistence/store.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { FakeSandbox } from "../environment/_fakes.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { buildSandbox, isAlive } from "../helpers/sandbox.ts";
import { final, replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";

const COMPUTE = replyJson("const n = 3 + 4", { final: "It is seven" });

/** Children that start when the test starts them. An abandoned child starts nevertheless. */
class Starts {
  readonly children: FakeSandbox[] = [];
  readonly #waiting: (() => void)[] = [];
  asked = 0;
  held = false;
  failing = false;

  readonly open: typeof openSandbox = async () => {
    this.asked++;
    if (this.held) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.failing) throw new SandboxEnded("no memory");
    const child = new FakeSandbox();
    this.children.push(child);
    return child;
  };

  release(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  get living(): number {
    return this.children.filter(({ ended }) => !ended).length;
  }
}

function enginesOf(starts: Starts, replies: readonly ScriptedReply[], options: EngineOptions = {}): Promise<Engine> {
  return startEngine(replies, { openSandbox: starts.open, ...options });
}

async function conversation({ conversations }: Engine, name: string): Promise<Branch> {
  return await conversations.create({ title: name, channel: "test", workspace: `/${name}` });
}

async function ask(engine: Engine, branch: Branch, signal = new AbortController().signal): Promise<string> {
  return (await engine.conversations.ask(branch, "x", { signal, emit: () => {} })).answer;
}

Deno.test("a conversation without code keeps no child, and one with code keeps its own", async () => {
  const starts = new Starts();
  await using engine = await enginesOf(starts, [final("seven"), COMPUTE, final("still seven")]);
  assert.equal((await engine.ask("1")).answer, "seven");
  assert.deepEqual([starts.asked, starts.living], [1, 0]);
  await engine.ask("2");
  assert.deepEqual([starts.asked, starts.living], [2, 1]);
  await engine.ask("3");
  assert.deepEqual([starts.asked, starts.living], [2, 1], "what blocks have made lives on");
});

Deno.test("a child that comes up after its query has ended is ended", async () => {
  const starts = new Starts();
  starts.held = true;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  await using engine = await enginesOf(starts, [final("quick")]);
  const asked = engine.conversations.ask(engine.branch, "x", {
    signal: new AbortController().signal,
    emit: ({ type }) => void (type === "final" && resolve()),
  });
  await ended; // The answer exists, but the child does not.
  assert.deepEqual([starts.asked, starts.living], [1, 0]);
  starts.release();
  assert.equal((await asked).answer, "quick");
  assert.deepEqual([starts.children.length, starts.living], [1, 0]);
});

Deno.test("a query that is cancelled while its child starts leaves none, and the next one gets another", async () => {
  const starts = new Starts();
  starts.held = true;
  await using engine = await enginesOf(starts, [{ text: COMPUTE, delayMs: 60_000 }, COMPUTE]);
  const controller = new AbortController();
  const asked = ask(engine, engine.branch, controller.signal);
  await until(() => engine.provider.requests.length > 0);
  controller.abort();
  starts.release();
  await asked;
  assert.deepEqual([starts.children.length, starts.living], [1, 0]);
  starts.held = false;
  assert.equal(await ask(engine, engine.branch), "It is seven");
  assert.deepEqual([starts.children.length, starts.living], [2, 1]);
});

Deno.test("a conversation that is closed while its child starts leaves none", async () => {
  const starts = new Starts();
  starts.held = true;
  await using engine = await enginesOf(starts, [COMPUTE]);
  const asked = engine.ask("x");
  await until(() => engine.events.some(({ type }) => type === "block_started"));
  const closing = engine.conversations.close(engine.branch.branchId);
  starts.release();
  await closing;
  assert.equal((await asked).reason, "cancelled");
  assert.deepEqual([starts.children.length, starts.living], [1, 0]);
});

Deno.test("a start that fails counts no more: the next child is not refused its place", async () => {
  const starts = new Starts();
  starts.failing = true;
  await using engine = await enginesOf(starts, [final("a"), final("b"), COMPUTE], { children: { live: 1 } });
  await engine.ask("1");
  await engine.ask("2");
  starts.failing = false;
  const failed = starts.asked;
  assert.ok(failed >= 2);
  await engine.ask("3");
  assert.deepEqual([starts.asked, starts.living], [failed + 1, 1]);
});

Deno.test("where running queries have all the children that may live, another one starts its own for a block alone", async () => {
  const starts = new Starts();
  await using engine = await enginesOf(starts, [
    COMPUTE,
    { text: final("slow"), delayMs: 60_000 },
    final("no code"),
    COMPUTE,
  ], { children: { live: 1 } });
  const [first, chat, code] = await Promise.all(["first", "chat", "code"].map((name) => conversation(engine, name)));
  assert.ok(first && chat && code);
  await ask(engine, first);
  assert.equal(starts.living, 1);
  const controller = new AbortController();
  const waiting = ask(engine, first, controller.signal);
  await until(() => engine.provider.requests.length === 2);
  assert.equal(await ask(engine, chat), "no code");
  assert.equal(starts.asked, 1, "no child for it");
  assert.equal(await ask(engine, code), "It is seven");
  assert.deepEqual([starts.asked, starts.living], [2, 1], "one over the limit while both ran");
  assert.equal(starts.children[0]?.ended, false);
  controller.abort();
  await waiting;
  assert.equal(starts.living, 1);
});

Deno.test("children that live, whatever queries do: never more than sandbox.live at rest", async () => {
  await buildSandbox();
  const children: Sandbox[] = [];
  await using engine = await startEngine([], {
    extensions: [rlm],
    children: { live: 2 },
    scripted: {
      otherwise: ({ texts: [, request = ""] }) => {
        if (request.includes("below")) return replyJson("const m = 1", { final: "{{m}}" });
        return [final("talk"), COMPUTE, replyJson("const b = await rlm.run('below')", { final: "{{b}}" })][
          Number(/case (\d)/.exec(request)?.[1])
        ] ?? final("other");
      },
    },
    openSandbox: async (options) => {
      const child = await openSandbox(options);
      children.push(child);
      return child;
    },
  });
  const signal = new AbortController().signal;
  await Promise.all(Array.from({ length: 12 }, async (_, at) => {
    const branch = await conversation(engine, `c${at}`);
    const controller = new AbortController();
    const given = { signal: at % 5 === 4 ? controller.signal : signal, emit: () => {} };
    const asked = engine.conversations.ask(branch, `case ${at % 3}`, given);
    if (at % 5 === 4) controller.abort();
    await asked;
  }));
  const living = (): number => children.filter(({ pid }) => isAlive(pid)).length;
  // Children without a run block are ended while the next query may begin.
  await until(() => living() <= 2, () => `${living()} of ${children.length} live`);
  assert.ok(children.length > 2);
  await engine.conversations.closeAll();
  assert.ok(!children.some(({ pid }) => isAlive(pid)));
});

Deno.test("a child whose conversation cannot begin its next query can still be stopped", async () => {
  const starts = new Starts();
  await using engine = await enginesOf(starts, [COMPUTE, COMPUTE], { children: { live: 1 } });
  await engine.ask("1");
  const { store } = engine;
  const previousTurn = store.previousTurn.bind(store);
  store.previousTurn = () => Promise.reject(new Error("no store"));
  await assert.rejects(engine.ask("2"), /no store/);
  store.previousTurn = previousTurn;
  assert.equal(starts.living, 1);
  assert.equal(await ask(engine, await conversation(engine, "other")), "It is seven");
  assert.deepEqual([starts.asked, starts.living], [2, 1]);
});
