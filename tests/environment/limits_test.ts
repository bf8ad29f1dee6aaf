import assert from "node:assert/strict";
import type { BlockResult } from "../../src/domain/query/query_schemas.ts";
import { defineExtension, fn, z } from "../../src/extension/mod.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";

const DEADLINE_MS = 1000;
const PATIENCE_MS = 60_000;
const SHORT = { deadlines: { defaultMs: DEADLINE_MS, minMs: 100, maxMs: PATIENCE_MS }, budget: 20 } as const;
const SMALL = { memoryBytes: 128 << 20 } as const;
const linux = Deno.build.os === "linux";

interface Lived {
  readonly engine: Engine;
  readonly children: readonly Sandbox[];
  readonly results: readonly BlockResult[];
}

/** Runs the blocks, each as an iteration of one query, and then `END`, whose call gets the last context. */
async function live(blocks: readonly (string | readonly [code: string, ms: number])[], options: EngineOptions = {}) {
  await buildSandbox();
  const children: Sandbox[] = [];
  const replies = blocks.map((block) => {
    const [expr, timeMs] = typeof block === "string" ? [block, DEADLINE_MS] : block;
    return JSON.stringify({ thinking: "x", code: [{ expr, timeMs }] });
  });
  const engine = await startEngine([...replies, replyJson([], { final: "That is all" })], {
    settings: SHORT,
    openSandbox: async (wanted) => {
      const child = await openSandbox(wanted);
      children.push(child);
      return child;
    },
    ...options,
  });
  const { reason } = await engine.ask("x");
  assert.equal(reason, "answered", JSON.stringify(engine.logged));
  const results = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result] : []);
  return { engine, children, results } satisfies Lived;
}

/** A search that takes minutes is one native call, which cannot be interrupted. */
const UNSTOPPABLE = `const part = "a".repeat(1e5), big = "a".repeat(1e7)
kept.push(3); big.lastIndexOf(part + "b")`;

Deno.test("block time: Timeout (1s) is reported, its changes and all variables are kept, and the child lives", async () => {
  const { engine, children, results } = await live([
    "const kept = [1]; const open = () => kept.length",
    "kept.push(2); const made = 5; await new Promise(() => {})",
    "[kept.join(), made, open()].join('|')",
  ]);
  await using _closed = engine;
  const [, late, next] = results;
  assert.deepEqual([late?.outcome, late?.timedOut, late?.lost], ["timeout", true, []]);
  assert.match(engine.context(2), /→ TIMEOUT Timeout \(1s\)/);
  assert.equal(next?.preview, '"1,2|5|2"');
  assert.equal(children.length, 1);
});

Deno.test("block time: waiting for a call with its own time limit does not count, other waiting does", async () => {
  const wait = (_env: unknown, ms: unknown): Promise<string> =>
    new Promise((done) => setTimeout(() => done("came"), Number(ms)));
  const facts = { doc: "Waits.", args: z.tuple([z.number().describe("ms")]), returns: "string" };
  const named = (alias: string, untimed = false) =>
    defineExtension({
      namespace: `test.${alias}`,
      alias: { ns: `vis.ext.${alias}`, alias },
      doc: "Waits.",
      version: "1.0.0",
      symbols: [fn("wait", wait, { ...facts, untimed })],
    });
  const { engine, results } = await live([
    ["await one.wait(700) + await two.wait(700)", DEADLINE_MS],
    ["await other.wait(5_000)", DEADLINE_MS],
  ], { extensions: [named("one", true), named("two", true), named("other")] });
  await using _closed = engine;
  assert.deepEqual(results.map(({ outcome }) => outcome), ["value", "timeout"]);
});

Deno.test("a block that cannot be interrupted is killed; its definitions are named as lost, the rest is unchanged", {
  ignore: !linux,
}, async () => {
  const { engine, children, results } = await live([
    "const kept = [1]; const pure = (n: number) => n * 2; const ticks = (function* () { yield 1 })()",
    [UNSTOPPABLE, DEADLINE_MS],
    "[kept.join(), pure(2), typeof big].join('|')",
  ]);
  await using _closed = engine;
  const [, killed, next] = results;
  assert.deepEqual([killed?.outcome, killed?.timedOut, killed?.lost], ["killed", true, ["part", "big"]]);
  assert.match(
    engine.context(2),
    /KILLED .*Timeout \(1s\), and the block did not stop; the changes of this block are lost/,
  );
  assert.match(engine.context(2), /lost variables: part, big/);
  assert.equal(next?.preview, '"1|4|undefined"');
  assert.equal(children.length, 2);
  assert.match(engine.context(3), /Cannot restore ticks: .*to make it again, run .*function\*/);
  assert.doesNotMatch(engine.context(2), /Cannot restore (?:kept|pure)/);
});

const BOMBS: Readonly<Record<string, string>> = {
  heap: "const bomb = []; for (;;) bomb.push({ a: [bomb.length], b: 'x' + bomb.length })",
  // A failed allocation may be an ordinary error. A block that continues meets the end.
  buffers:
    "const bomb = []; for (;;) try { bomb.push(new Uint8Array(2 ** 20).fill(1)) } catch { bomb.push(Array(1e5).fill(0.5)) }",
  strings:
    "const bomb = []; for (let i = 0;; i++) bomb.push(String.fromCharCode(65 + i % 26).repeat(2 ** 20) + i, bomb.join(''))",
};
for (const [what, bomb] of Object.entries(BOMBS)) {
  Deno.test(`memory, ${what}: the child ends and is started again in the state of the last finished block`, {
    ignore: !linux,
  }, async () => {
    const { engine, children, results } = await live([
      "const kept = { n: [1, 2] }; class Point { x = 3 }; const point = new Point()",
      [`kept.n.push(3);\n${bomb}`, PATIENCE_MS],
      "[kept.n.join(), point.x, point instanceof Point, typeof bomb].join('|')",
    ], { limits: SMALL });
    await using _closed = engine;
    const [, died, next] = results;
    // A string over V8's own limit is an ordinary error, and no variable is lost.
    assert.equal(died?.outcome, "memory", died?.error?.message);
    assert.deepEqual(died?.lost, ["bomb"]);
    assert.match(
      engine.context(2),
      /OUT OF MEMORY .*used up the sandbox's memory, \d+ MiB \(sandbox\.memoryMiB\); the changes of this block are lost/,
    );
    assert.equal(next?.preview, '"1,2|3|true|undefined"');
    assert.equal(children.length, 2);
  });
}

Deno.test("memory, WebAssembly: blocks have no WebAssembly", async () => {
  const { engine, results } = await live(["typeof WebAssembly + typeof SharedArrayBuffer"]);
  await using _closed = engine;
  assert.equal(results[0]?.preview, '"undefinedundefined"');
});

Deno.test("output: 1 MiB of stdout and stderr together is kept, the rest is counted, and the model learns both", async () => {
  const { engine, results } = await live([
    "for (let i = 0; i < 24; i++) { console.log('o'.repeat(65535)); console.error('e'.repeat(65535)) }; const done = 7",
    "done + 1",
  ]);
  await using _closed = engine;
  const [first, next] = results;
  assert.equal((first?.stdout.length ?? 0) + (first?.stderr.length ?? 0), 1 << 20);
  assert.equal(first?.dropped, 48 * 65536 - (1 << 20));
  assert.match(engine.context(1), /2097152 more characters of output were not kept/);
  assert.equal(next?.preview, "8");
});

function counting() {
  const seen = { now: 0, most: 0, bytes: 0, mostBytes: 0 };
  const take = async (data: unknown): Promise<number> => {
    const bytes = data instanceof Uint8Array ? data.length : 0;
    seen.most = Math.max(seen.most, ++seen.now);
    seen.mostBytes = Math.max(seen.mostBytes, seen.bytes += bytes);
    // The pause is long enough for the next large argument to arrive.
    await new Promise((done) => setTimeout(done, bytes > 0 ? 400 : 10));
    seen.now--;
    seen.bytes -= bytes;
    return bytes;
  };
  const facts = { doc: "Takes data.", args: z.tuple([z.any().describe("data")]), returns: "number" };
  const extension = defineExtension({
    namespace: "test.limits",
    alias: { ns: "vis.ext.limits", alias: "limits" },
    doc: "Reaches limits.",
    version: "1.0.0",
    symbols: [
      fn("take", (_env, data: unknown) => take(data), facts),
      fn("give", (_env, size: unknown) => new Uint8Array(Number(size)), {
        ...facts,
        args: z.tuple([z.number().describe("n")]),
      }),
    ],
  });
  return { seen, extension };
}

Deno.test("host calls: 64 at a time, and large ones as the memory for arguments allows; the rest waits and is answered", async () => {
  const { seen, extension } = counting();
  const { engine, results } = await live([
    ["(await Promise.all(Array.from({ length: 300 }, () => limits.take(1)))).length", PATIENCE_MS],
    [
      "const sent = Array.from({ length: 5 }, () => new Uint8Array(40 * 2 ** 20)); let sum = 0\n" +
      "for (const n of await Promise.all(sent.map((data) => limits.take(data)))) sum += n\nsum / 2 ** 20",
      PATIENCE_MS,
    ],
    "1 + 1",
  ], { extensions: [extension] });
  await using _closed = engine;
  assert.deepEqual(results.map(({ preview }) => preview), ["300", "200", "2"]);
  assert.ok(seen.most <= 64 && seen.most > 32, `${seen.most} at a time`);
  assert.ok(seen.mostBytes <= 96 << 20 && seen.mostBytes >= 40 << 20, `${seen.mostBytes} bytes at a time`);
});

Deno.test("an argument or a result over 64 MiB: an error that names the size, and the child lives", async () => {
  const { extension } = counting();
  const { engine, children, results } = await live([
    ["const kept = 1; await limits.take(new Uint8Array(65 * 2 ** 20))", PATIENCE_MS],
    ["await limits.give(65 * 2 ** 20)", PATIENCE_MS],
    "kept",
  ], { extensions: [extension] });
  await using _closed = engine;
  for (const at of [0, 1]) {
    assert.equal(results[at]?.outcome, "error");
    assert.match(engine.context(at + 1), /ERROR .*(67\D?108\D?864|64 MiB)/);
  }
  assert.equal(results[2]?.preview, "1");
  assert.equal(children.length, 1);
});

const NEVER = new AbortController().signal;

async function askIn(engine: Engine, branch: Engine["branch"], replies: readonly string[]): Promise<string> {
  engine.provider.push(...replies);
  return (await engine.conversations.ask(branch, "x", { signal: NEVER, emit: (event) => engine.events.push(event) }))
    .answer;
}

Deno.test("living children: the least recently used is stopped, and is back with its variables on next use", async () => {
  await buildSandbox();
  const children: Sandbox[] = [];
  await using engine = await startEngine([], {
    children: { live: 2 },
    openSandbox: async (wanted) => {
      const child = await openSandbox(wanted);
      children.push(child);
      return child;
    },
  });
  const branches = await Promise.all(
    [1, 2, 3].map((n) => engine.conversations.create({ title: `${n}`, channel: "test", workspace: `/${n}` })),
  );
  for (const [n, branch] of branches.entries()) {
    const code = `const own = [${n}]; const size = () => own.length`;
    assert.equal(await askIn(engine, branch, [replyJson(code, { final: "{{own.length}} in {{own}}" })]), `1 in ${n}`);
  }
  assert.deepEqual(children.map(({ ended }) => ended), [true, false, false]);
  const again = await askIn(engine, branches[0]!, [replyJson("own.push(9); const n = size()", { final: "{{n}}" })]);
  assert.equal(again, "2");
  assert.deepEqual(children.map(({ ended }) => ended), [true, true, false, false]);
});

Deno.test("child idle: stopped when no query runs, restored on next use; lost variables are named", async () => {
  await buildSandbox();
  const children: Sandbox[] = [];
  const due: { ms: number; f: () => void; cancelled: boolean }[] = [];
  await using engine = await startEngine([], {
    children: {
      idleMs: 600_000,
      after: (ms, f) => {
        const timer = { ms, f, cancelled: false };
        due.push(timer);
        return () => void (timer.cancelled = true);
      },
    },
    openSandbox: async (wanted) => {
      const child = await openSandbox(wanted);
      children.push(child);
      return child;
    },
  });
  const ask = (replies: readonly string[]): Promise<string> => askIn(engine, engine.branch, replies);
  await ask([
    replyJson("const rows = [1, 2]; const steps = (function* () { yield 1 })()", { final: "{{rows.length}}" }),
  ]);
  assert.deepEqual(due.map(({ ms, cancelled }) => [ms, cancelled]), [[600_000, false]]);
  due[0]?.f();
  await until(() => children[0]?.ended === true);
  const before = engine.provider.requests.length;
  await ask([replyJson("rows.push(3)"), replyJson("const n = rows.length", { final: "{{n}}" })]);
  assert.equal(children.length, 2);
  const told = engine.provider.requests.slice(before).map(({ context }) => context).join("\n");
  assert.match(told, /Cannot restore steps: .*to make it again, run .*function\*/);
  assert.equal(told.match(/Cannot restore steps:/g)?.length, 1);
  assert.equal(due.length, 2);
});

Deno.test("child idle: a timer that comes while a query runs stops nothing", async () => {
  await buildSandbox();
  const due: (() => void)[] = [];
  await using engine = await startEngine([], {
    children: { after: (_ms, f) => (due.push(f), () => {}) }, // The cancellation is too late.
  });
  assert.equal(await askIn(engine, engine.branch, [replyJson("const n = 1", { final: "{{n}}" })]), "1");
  const running = askIn(engine, engine.branch, [
    replyJson("await new Promise((done) => setTimeout(done, 100)); const m = n + 1"),
    replyJson([], { final: "{{m}}" }),
  ]);
  for (let i = 0; i < 200 && !engine.events.some((e) => e.type === "block_started" && /setTimeout/.test(e.code)); i++) {
    await new Promise((done) => setTimeout(done, 2));
  }
  due[0]?.();
  assert.equal(await running, "2");
});
