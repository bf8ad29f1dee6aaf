import assert from "node:assert/strict";
import { join } from "node:path";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const END = replyJson([], { final: "That is all" });

function shown(engine: Engine): string[] {
  const last = engine.events.at(-1)?.queryId;
  return engine.events.flatMap((event) => {
    if (event.type !== "block_finished" || event.queryId !== last) return [];
    const { ok, preview, error } = event.result;
    return [ok ? preview : `${error?.name}: ${error?.message}\n${error?.excerpt}`];
  });
}

interface Resumed {
  readonly checks: readonly string[];
  readonly context: string;
}

/** Runs blocks in two iterations, ends everything, and runs the checks as a new process does. */
async function resumed(blocks: readonly string[], checks: readonly string[]): Promise<Resumed> {
  await buildSandbox();
  const folder = await Deno.makeTempDir({ prefix: "vis-resume-" });
  const path = join(folder, "x.db");
  try {
    await using first = await startEngine([replyJson(blocks.slice(0, 1)), replyJson(blocks.slice(1)), END], { path });
    await first.ask("x");
    for (const text of shown(first)) assert.doesNotMatch(text, /^\w*Error: /);
    await first.close();
    await using second = await startEngine([replyJson([...checks]), END], { path });
    await second.ask("y");
    return { checks: shown(second), context: second.context(1) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Kept {
  readonly blocks: readonly string[];
  readonly check: string;
  readonly is: string;
}

const KEPT: Readonly<Record<string, Kept>> = {
  data: {
    blocks: [
      "const d = new Date(5), r = /a/gi, m = new Map([[1, new Set([2])]]), u = new Uint8Array([1, 2]), e = new RangeError('x', { cause: 1 }), ok = 1",
      "const big = 5n, neg = -0, nan = NaN, none = undefined, url = new URL('http://a/b'), bare = Object.create(null), sparse = [1, , 3], lone = '\\ud800'",
    ],
    check:
      "[d.getTime(), r.flags, m.get(1).has(2), u[1], e instanceof RangeError, e.cause, big, Object.is(neg, -0), nan, none, url.host, Object.getPrototypeOf(bare), 1 in sparse, lone.length].join()",
    is: '"5,gi,true,2,true,1,5,true,NaN,,a,,false,1"',
  },
  "classes: inheritance over blocks, statics, accessors, symbols": {
    blocks: [
      "class Base { static n = 3; static list = [1]; static make() { return new this() } hi() { return 'base ' + this.name } get twice() { return this.v * 2 } set twice(v) { this.v = v / 2 } *[Symbol.iterator]() { yield this.v } }",
      "class Sub extends Base { name = 'sub'; v = 1; hi() { return super.hi() + '!' } static { this.made = 'in a static block' } }",
      "const s = Sub.make(); Sub.n = 9; Base.list.push(2); s.twice = 8",
    ],
    check:
      "[s.hi(), s.twice, [...s], s instanceof Base, Object.getPrototypeOf(Sub) === Base, Sub.n, Base.n, Base.list, Sub.made]",
    is: '[ "base sub!", 8, [ 4 ], true, true, 9, 3, [ 1, 2 ], "in a static block" ]',
  },
  "instances: nested, in collections, in cycles, shared": {
    blocks: [
      "class P { x = 1 }",
      "const p = new P(), list = [{ deep: p }], map = new Map([[p, new Set([p])]]); p.self = p; p.list = list",
    ],
    check:
      "[list[0].deep === p, map.has(p), map.get(p).has(p), p.self === p, p.list === list, list[0].deep instanceof P]",
    is: "[ true, true, true, true, true, true ]",
  },
  "closures over variables, and functions that see later ones": {
    blocks: [
      "let count = 0; const inc = () => ++count; const get = () => later",
      "inc(); const later = 'l'",
      "function even(n) { return n === 0 || odd(n - 1) }",
      "function odd(n) { return n !== 0 && even(n - 1) }",
    ],
    check: "[inc(), count, get(), even(10)]",
    is: '[ 2, 2, "l", true ]',
  },
  "cycles between variables, and sharing": {
    blocks: [
      "const a = {}",
      "const b = { a }; a.b = b; const inner = [1], one = { inner }, two = new Map([['k', inner]])",
    ],
    check: "one.inner.push(2); [a.b === b, b.a === a, inner.length, two.get('k') === inner]",
    is: "[ true, true, 2, true ]",
  },
  "functions redefined later, default values that name other variables": {
    blocks: [
      "function f() { return 1 }; const g = () => f(); const base = 5",
      "function f() { return 2 }; function h(x = base, y = x + f()) { return y }",
      "f.cache = { hits: 3 }",
    ],
    check: "[g(), h(), f.name, h.name, f.cache.hits]",
    is: '[ 2, 7, "f", "h", 3 ]',
  },
  "generators, asynchronous functions, TypeScript": {
    blocks: [
      "enum E { A, B }\nconst arrow = async (x: number): Promise<number> => { await 0; return x * E.B }",
      "const gen = function* () { yield 1 }; const many = async function* named() { yield 2 }",
    ],
    check: "[await arrow(4), [...gen()], (await many().next()).value, arrow.name, gen.name, many.name]",
    is: '[ 4, [ 1 ], 2, "arrow", "gen", "named" ]',
  },
  "a class is evaluated without changing the data it changed when it was made": {
    blocks: ["let made = 0; const log = []", "class K { static id = ++made; static { log.push(this.id) } }"],
    check: "[made, log, K.id]",
    is: "[ 1, [ 1 ], 1 ]",
  },
  "classes of built-in classes": {
    blocks: ["class MyError extends Error { code = 5 }", "class Bag extends Map { x = 1 }"],
    check: "[new MyError('m').code, new Bag([[1, 2]]).get(1), new MyError('m') instanceof Error]",
    is: "[ 5, 2, true ]",
  },
};

for (const [what, { blocks, check, is }] of Object.entries(KEPT)) {
  Deno.test(`resume ${what}`, async () => {
    const { checks, context } = await resumed(blocks, [check]);
    assert.deepEqual(checks, [is]);
    assert.doesNotMatch(context, /Cannot restore/);
  });
}

Deno.test("resume never runs the code that made a value, and sources run with host calls off", async () => {
  const { checks } = await resumed([
    "const past = await conversationCode().catch(() => [1])\nlet calls = 0; const track = () => { calls++; return vars() }",
    "const one = await track()",
    "class Calls { static all = track().catch((error) => error.message) }",
  ], ["[past.length, calls, Array.isArray(one)]", "await Calls.all", "(await track()).length > 0"]);
  assert.deepEqual(checks[0], "[ 1, 2, true ]");
  assert.match(checks[1] ?? "", /Cannot call|host calls/i);
  assert.equal(checks[2], "true");
});

Deno.test("resume names each lost variable to the model, with the reason and the statement that made it", async () => {
  const { checks, context } = await resumed([
    "const kept = 1; class Secret { #x = 1; get x() { return this.#x } }",
    "const hidden = new Secret(); const nested = { in: [hidden] }",
    "const made = ((n) => () => n)(1)\nconst bound = made.bind(null)",
    "const iterator = [1].values(), weak = new WeakMap(), tag = Symbol('t'), done = Promise.resolve(1)",
    "const methods = { parse() { return 1 } }",
  ], ["kept", "new Secret().x", "[hidden, nested, made]", "typeof methods"]);
  assert.deepEqual([checks[0], checks[1], checks[3]], ["1", "1", '"undefined"']);
  assert.match(checks[2] ?? "", /ReferenceError: hidden is not defined/);
  const notes = context.slice(context.indexOf("<notes>"), context.indexOf("</notes>"));
  const expected: readonly (readonly [string, RegExp, string])[] = [
    ["hidden", /private fields/, "const hidden = new Secret()"],
    ["nested", /\.in\[0\] is an instance of Secret/, "const nested = { in: [hidden] }"],
    ["made", /function that a call made/, "const made = ((n) => () => n)(1)"],
    ["bound", /bound function/, "const bound = made.bind(null)"],
    ["iterator", /Array Iterator/, "const iterator"],
    ["weak", /WeakMap/, "const iterator"],
    ["tag", /symbol/, "const iterator"],
    ["done", /await it and keep its result/, "const iterator"],
    ["methods", /\.parse is a function/, "const methods = { parse() { return 1 } }"],
  ];
  for (const [name, reason, statement] of expected) {
    const line = notes.split("\n").find((one) => one.includes(`Cannot restore ${name}:`)) ?? "";
    assert.match(line, reason, `${name}: ${notes}`);
    assert.ok(line.includes(`to make it again, run ${statement}`), line);
  }
});

Deno.test("resume an error in a restored function shows its source", async () => {
  const { checks } = await resumed(
    ["function boom(x) {\n  return x.y.z\n}\nconst callback = (q) => {\n  throw new RangeError('no')\n}", "1"],
    ["\nboom({})", "[1].map(callback)"],
  );
  assert.match(
    checks[0] ?? "",
    /^TypeError: .*\nboom\(\{\}\)\n\^\nthrown in boom, its source, line 2:\n {2}return x.y.z\n {13}\^$/,
  );
  assert.match(
    checks[1] ?? "",
    /^RangeError: no\n.*\n.*\nthrown in callback, its source, line 2:\n {2}throw new RangeError/,
  );
});

Deno.test("varHistory(), varDiff() and restoreVar() of every kind", async () => {
  await buildSandbox();
  const blocks = [
    "let d = [1]\nfunction f() { return 1 }\nclass K { static n = 1; v() { return 1 } }\nclass Pt { x = 1 }\nlet pt = new Pt(), c = ((a) => () => a)(1)",
    "d.push(2); f = () => 2; K.n = 5; pt.x = 9; c = 7",
  ];
  const names = ["d", "f", "K", "pt", "c"];
  await using engine = await startEngine([
    ...blocks.map((block) => replyJson(block)),
    replyJson([
      `const h = {}; for (const n of ${JSON.stringify(names)}) h[n] = (await varHistory(n)).map((v) => v.value); h`,
    ]),
    replyJson(names.map((name) => `await varDiff("${name}", 1, 2)`)),
    replyJson([...names.map((name) => `await restoreVar("${name}", 1)`), "[d, f(), K.n, pt.x, pt instanceof Pt, c]"]),
    replyJson(["await restoreVar('d', 99)", "await restoreVar('nope')"]),
    END,
  ], { settings: { budget: 9 } });
  await engine.ask("x");
  const [history = "", ...rest] = shown(engine).slice(2);
  for (
    const part of [
      "d: [ [ 1 ], [ 1, 2 ] ]",
      'f: [ "function f() { return 1 }", "() => 2" ]',
      '\n  "n": 5\n',
      "pt: [ { x: 1 }, { x: 9 } ]",
      "c: [ null, 7 ]",
    ]
  ) assert.ok(history.includes(part), `${part} in ${history}`);
  const changes = [
    /^d v1 → v2: 1 change\n\+ \[1\]: 2/m,
    /-function f\(\) \{ return 1 \}\n\+\(\) => 2/,
    /"n": 1[^]*\+.*"n": 5/,
    /~ x: 1 → 9/,
    /~ value: null → 7/,
  ];
  changes.forEach((change, i) => assert.match(rest[i] ?? "", change));
  assert.deepEqual(rest.slice(5, 9), names.slice(0, 4).map((name) => `{ name: "${name}", version: 1 }`));
  assert.match(
    rest[9] ?? "",
    /Cannot restore c: it is a function that a call made.*; to make it again, run let pt = new Pt\(\), c = /,
  );
  assert.equal(rest[10], "[ [ 1 ], 1, 1, 1, true, 7 ]");
  assert.match(rest[11] ?? "", /Cannot find d v99: it has versions 1 to 3/);
  assert.match(rest[12] ?? "", /Cannot find nope: no earlier step stored a variable with this name/);
});

Deno.test("a child that ends in the middle of a block: variables as of the last finished block", async () => {
  await buildSandbox();
  const children: Sandbox[] = [];
  await using engine = await startEngine([
    replyJson([
      "const kept = { n: 1 }; class C { v = 1 } const c = new C(); function f() { return kept.n }",
      "kept.n = 2; c.v = 5",
      "kept.n = 3; c.v = 6; const fresh = 1; await vars(); await new Promise(() => {})",
    ]),
    replyJson(["[kept.n, f(), c.v, c instanceof C, typeof fresh]"]),
    END,
  ], {
    openSandbox: async (options) => {
      const child = await openSandbox({
        ...options,
        onCall: async (call) => {
          const result = await options.onCall(call);
          Deno.kill(child.pid, "SIGKILL");
          return result;
        },
      });
      children.push(child);
      return child;
    },
  });
  await engine.ask("x");
  const results = engine.events.flatMap((event) => event.type === "block_finished" ? [event.result] : []);
  assert.deepEqual(results.map(({ outcome }) => outcome), ["none", "value", "killed", "value"]);
  assert.equal(results[3]?.preview, '[ 2, 2, 5, true, "undefined" ]');
  assert.deepEqual(results[2]?.lost, ["fresh"]);
  assert.equal(children.length, 2);
});
