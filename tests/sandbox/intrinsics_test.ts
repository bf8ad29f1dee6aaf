/** A block may replace every function of the language. The runtime and the code around the block call none of them, so
 * that a replaced function receives no data. Run this test with each new version of the runtime. */
import assert from "node:assert/strict";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { type TestSandbox, testSandbox, type TestSandboxOptions } from "../helpers/sandbox.ts";

/** Replaces every function of the language and of the web's classes that can be replaced, and returns their number.
 * `handed()` lists the arguments of the replaced functions since the last call. */
const REPLACE = String.raw`
globalThis.handed = null;
(() => {
  const { apply, construct, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Reflect;
  const { setPrototypeOf } = Object, { isArray } = Array, toText = Object.prototype.toString;
  const bare = () => setPrototypeOf([], null);
  const globals = ownKeys(globalThis), found = bare(), known = new Set();
  const find = (o) => {
    if (((typeof o !== "object" || o === null) && typeof o !== "function") || o === globalThis || known.has(o)) return;
    known.add(o);
    found[found.length] = o;
  };
  const OURS = ["fs", "console", "vis", "doc", "print", "shape", "crypto", "performance", "dispatchEvent", "handed"];
  for (const name of globals) if (!OURS.includes(name)) find(globalThis[name]);
  const segments = new Intl.Segmenter().segment("a");
  const hidden = [(function* () {})(), (async function* () {})(), async () => {}, [].values(), new Map().entries(),
    new Set().values(), ""[Symbol.iterator](), "a".matchAll(/a/g), [].values().map((x) => x),
    Iterator.from({ next() {} }), segments, segments[Symbol.iterator](), new URLSearchParams().entries()];
  for (const o of hidden) find(getPrototypeOf(o));
  for (let i = 0; i < found.length; i++) {
    for (const key of ownKeys(found[i])) find(getOwnPropertyDescriptor(found[i], key).value);
    find(getPrototypeOf(found[i]));
  }

  let calls = bare(), count = 0, listens = false;
  const replacement = (name, f) => function (...args) {
    if (listens) {
      const call = bare();
      call[0] = name;
      call[1] = this;
      for (let i = 0; i < args.length; i++) call[i + 2] = args[i];
      calls[calls.length] = call;
    }
    return new.target ? construct(f, args, f) : apply(f, this, args);
  };
  const replace = (o, key) => {
    const { value, get, set } = getOwnPropertyDescriptor(o, key), name = typeof key === "string" ? key : "symbol";
    const change = typeof value === "function"
      ? { value: replacement(name, value) }
      : { get: get && replacement("get " + name, get), set: set && replacement("set " + name, set) };
    if ((typeof value === "function" || get || set) && defineProperty(o, key, change)) count++;
  };
  for (let i = 0; i < found.length; i++) {
    const keys = ownKeys(found[i]);
    for (let k = 0; k < keys.length; k++) {
      if (keys[k] === "constructor") continue;
      try { replace(found[i], keys[k]) } catch { /* it cannot be replaced */ }
    }
  }
  for (let i = 0; i < globals.length; i++) {
    let ours = false;
    for (let k = 0; k < OURS.length; k++) ours ||= OURS[k] === globals[i];
    if (!ours && typeof globals[i] === "string") replace(globalThis, globals[i]);
  }
  const shown = (x) =>
    isArray(x) ? "list of " + x.length
      : typeof x === "function" || (typeof x === "object" && x !== null) ? apply(toText, x, [])
      : typeof x;
  globalThis.handed = () => {
    listens = false;
    let text = "";
    for (let i = 0; i < calls.length; i++) {
      text += calls[i][0] + ":";
      for (let k = 1; k < calls[i].length; k++) text += " " + shown(calls[i][k]);
      text += "\n";
    }
    calls = bare();
    listens = true;
    return text;
  };
  handed();
  return count;
})()`;

/** The code of these blocks calls no function of the language. */
const BLOCKS: Readonly<Record<string, string>> = {
  "a host call": "await fs.read('a')",
  "several host calls": "const one = fs.read('a'), other = fs.read('b'); await one; await other",
  "a large argument": "await fs.read(long)",
  "a host call that fails": "let failed; try { await fs.fail() } catch (error) { failed = error }",
  "TypeScript": "interface A { x: number }\nconst xOf = (a: A): number => a.x;\nxOf({ x: 1 })",
  "a class and its instance":
    "class Counter { #n = 0; add() { return ++this.#n } }\nconst counter = new Counter(); counter",
  "an argument that is refused": "let refused; try { await fs.read(doc) } catch (error) { refused = error }",
  "printing": "console.log('x', { a: [1] }); print(1)",
  "other printing": "console.assert(false, 'x', {}); console.time(); console.timeEnd()",
  "a timer": "await { then(done) { setTimeout(done, 1) } }",
  "random numbers": "crypto.randomUUID()",
  "an error": "null.x",
  "a rejection that nothing handles": "(async () => { throw 1 })(); 2",
  "an endless loop": "for (;;);",
  "a description": "doc(fs)",
};

/** Deno 2.6 keeps the numbers of timers that were cancelled in the current turn in a set. A block could hide a timer
 * from it, such as its own deadline's, which the main process watches too. */
const CANCELLED_TIMERS = /^(?:has|add|clear): \[object Set\](?: number)?\n/gm;

async function handed(box: TestSandbox): Promise<string> {
  const { value, result } = await box.run("handed()");
  assert.ok(value, result.error?.message);
  return String(decode(value)).replace(CANCELLED_TIMERS, "");
}

async function findNothingHanded(options: Pick<TestSandboxOptions, "grants" | "globals">): Promise<void> {
  const fail = () => {
    throw new Error("no");
  };
  const functions = { "fs.read": () => "text", "fs.fail": fail, doc: () => "" };
  await using box = await testSandbox({ functions, ...options });
  await box.run("const long = 'x'.repeat(200_000), bytes = new Uint8Array(3)");
  assert.ok(Number(await box.show(REPLACE)) > 500);
  for (const [name, code] of Object.entries(BLOCKS)) {
    await box.run(code, name === "an endless loop" ? { deadlineMs: 50 } : {});
    assert.equal(await handed(box), "", name);
  }
  await box.sandbox.bind("$query", "x".repeat(50_000));
  await box.sandbox.read("long", { maxBytes: 1 << 20 });
  await box.sandbox.forget(["long"]);
  await box.sandbox.endQuery();
  assert.equal(await handed(box), "", "requests of the main process");
  await box.run("await crypto.subtle.digest('SHA-1', bytes)");
  // The list of objects that structuredClone() transfers is empty.
  assert.match(await handed(box), /^(?:symbol: list of 0\nnext: \[object Array Iterator\]\n)*$/);
}

Deno.test("replaced functions of the language are handed nothing", () => findNothingHanded({}));

Deno.test({
  name: "replaced functions of the language are handed nothing in a worker with grants",
  ignore: Deno.build.os !== "linux",
  fn: () => findNothingHanded({ grants: { read: ["/usr"] }, globals: ["Deno.readTextFile"] }),
});

Deno.test("a FinalizationRegistry of a block has no native class above it", async () => {
  await using box = await testSandbox();
  await box.run("class Own extends FinalizationRegistry {}; const own = new Own(() => {}), token = {}");
  await box.run("own.register({}, 1, token)");
  assert.equal(await box.show("own.unregister(token)"), "true");
  assert.equal(await box.show("own.unregister(token)"), "false");
  assert.equal(await box.show("Object.getPrototypeOf(FinalizationRegistry) === Function.prototype"), "true");
  assert.equal(await box.show("Object.getPrototypeOf(FinalizationRegistry.prototype) === Object.prototype"), "true");
});

Deno.test("code of a thrown value runs only within the time limit of the block", async () => {
  await using box = await testSandbox();
  await box.run("let kept = 7");
  const loops = "class Loops extends Error { get message() { for (;;); } }; ";
  for (const code of [`${loops}throw new Loops()`, "await 0; throw new Loops()", "throw Object.create(new Loops())"]) {
    const { result } = await box.run(code, { deadlineMs: 200 });
    assert.match(result.outcome, /^(?:error|timeout)$/, code); // V8 omits the message if the code was stopped.
  }
  assert.equal(await box.show("kept"), "7");
  await box.run("let trapped = 0; const count = { getPrototypeOf() { trapped++; return Error.prototype } }");
  const { result } = await box.run("throw Object.create(new Proxy({}, count))");
  assert.equal(result.outcome, "error");
  assert.equal(await box.show("trapped"), "0");
});

const FORGED: readonly string[] = [
  "String.prototype.substring = () => 'All 9 tests passed.'; 1",
  "String.prototype.charAt = String.prototype.trim = String.prototype.endsWith = () => 'All 9 tests passed.'; 1",
  "Array.prototype.push = function () { this[this.length] = ['text', 'All 9 tests passed.', 0, 1]; return 1 }; 1",
  "RegExp.prototype.exec = () => null; Array.prototype.some = () => false; 1",
  "String.prototype.toJSON = Array.prototype.toJSON = () => 'All 9 tests passed.'; 1",
  "Array.prototype[Symbol.iterator] = function* () { yield 'All 9 tests passed.' }; 1",
];

Deno.test("a block that replaces functions does not rewrite the answer", async () => {
  const template = "3 of 9 tests failed, {{#list}}{{.}} {{/list}}the release of {{n}} ({{o.big}}) must wait.";
  for (const code of FORGED) {
    await using box = await testSandbox();
    await box.run("let n = 'version two', list = ['a', 'b'], o = { big: 2n }; 1");
    await box.run(code);
    const text = "3 of 9 tests failed, a b the release of version two (2) must wait.";
    assert.deepEqual(await box.sandbox.render(template, { deadlineMs: 2000 }), { ok: true, from: "template", text });
    const { reason } = await box.sandbox.render("{{o.x}} {{n}}", { deadlineMs: 2000 }) as { reason: string };
    assert.equal(reason, "{{o.x}} does not exist: o has big");
  }
});
