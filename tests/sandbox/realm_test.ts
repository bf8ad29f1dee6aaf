import assert from "node:assert/strict";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { runs } from "../helpers/long_part.ts";
import { testSandbox } from "../helpers/sandbox.ts";

const WEB = [
  "AbortController",
  "AbortSignal",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "URLSearchParams",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "performance",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
  "structuredClone",
];
const OURS = ["dispatchEvent", "doc", "fs", "print", "printed", "results", "shape", "vis"];
/** These are undefined and cannot be deleted, because runtimes keep a second set of some of them. */
const ABSENT = [
  "Atomics",
  "Buffer",
  "Deno",
  "SharedArrayBuffer",
  "WebAssembly",
  "Worker",
  "clearImmediate",
  "close",
  "exports",
  "fetch",
  "global",
  "module",
  "navigator",
  "postMessage",
  "process",
  "require",
  "setImmediate",
];

const functions = { doc: () => "", "fs.readFile": () => "text" };

async function valueOf(code: string): Promise<unknown> {
  await using box = await testSandbox({ functions });
  const { result, value } = await box.run(code, { deadlineMs: 10_000 });
  assert.ok(value, result.error?.message);
  return decode(value);
}

Deno.test("the realm has only ECMAScript, a short list of globals, and Vis's own names", async () => {
  const found = await valueOf("Reflect.ownKeys(globalThis).map(String)") as string[];
  const standard = Object.getOwnPropertyNames(globalThis).filter((name) => {
    const value: unknown = Reflect.get(globalThis, name);
    const text = typeof value === "function" ? Function.prototype.toString.call(value) : "";
    return /^[A-Z]/.test(name) && /native code/.test(text) || typeof value !== "function";
  });
  const language = new Set([
    ...standard,
    ..."decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN parseFloat parseInt"
      .split(" "),
  ]);
  const strange = found.filter((name) =>
    !WEB.includes(name) && !OURS.includes(name) && !ABSENT.includes(name) && !language.has(name)
  );
  assert.deepEqual(strange, []);
  for (const name of ["Deno", "process", "fetch", "Worker", "caches", "localStorage", "name", "onmessage"]) {
    assert.ok(ABSENT.includes(name) || !found.includes(name), name);
  }
});

Deno.test("an absent global is undefined or the value that a block assigned, and cannot be deleted", async () => {
  const code = `${JSON.stringify(ABSENT)}.filter((name) => {
    try { globalThis[name] = 1 } catch { /* as it should be */ }
    try { Object.defineProperty(globalThis, name, { value: 2 }) } catch { /* likewise */ }
    const given = globalThis[name];
    try { delete globalThis[name] } catch { /* likewise */ }
    return given !== 2 || globalThis[name] !== 2;
  })`;
  assert.deepEqual(await valueOf(code), []);
});

/** Visits values, getters, prototypes and symbols of everything that a block can reach. */
const WALK = String.raw`
const seen = new Set(), found = [];
const text = Function.prototype.toString;
const walk = (root, path) => {
  const queue = [[root, path, 0]];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [o, at, depth] = next;
    if (o === null || (typeof o !== "object" && typeof o !== "function") || seen.has(o)) continue;
    seen.add(o);
    if (depth > 12) continue;
    let tag = ""; try { tag = Object.prototype.toString.call(o) } catch { tag = "throws" }
    if (/Port|Worker|Deno|Socket|global(?!This)|Timeout|Immediate|Process|Module/i.test(tag)) found.push(at + " is " + tag);
    const add = (value, name) => queue.push([value, at + "." + name, depth + 1]);
    try { add(Object.getPrototypeOf(o), "__proto__") } catch (e) { add(e, "!proto") }
    for (const key of Reflect.ownKeys(o)) {
      const d = Object.getOwnPropertyDescriptor(o, key);
      if (!d) continue;
      if ("value" in d) add(d.value, String(key));
      else { add(d.get, "get " + String(key)); add(d.set, "set " + String(key)); try { add(o[key], String(key) + "()") } catch (e) { add(e, String(key) + "!") } }
    }
  }
};
const thrown = (f) => { try { f() } catch (e) { return e } };
const failing = fs.readFile(() => 1);
walk(globalThis, "globalThis"); walk(await fs.readFile("a"), "result"); walk(failing, "promise"); walk(await failing.catch((e) => e), "error");
walk(thrown(() => { const f = () => f(); f() }), "overflow"); walk(thrown(() => new RegExp("(")), "syntax"); walk(thrown(() => null.x), "type");
walk((async function* () {})(), "async generator"); walk((function* () {})(), "generator"); walk((async () => {})(), "async");
walk(new URL("http://a/b?c"), "url"); walk(new URL("http://a/b?c").searchParams.entries(), "params"); walk(new TextDecoder(), "decoder");
walk(structuredClone(new Error("x")), "clone"); walk(thrown(() => structuredClone(() => 1)), "DOMException"); walk(thrown(() => new URL("::")), "URL error");
walk(thrown(() => atob("~")), "atob error"); walk(await crypto.subtle.digest("SHA-1", new Uint8Array(1)), "digest");
walk(await crypto.subtle.digest("none", new Uint8Array(1)).catch((e) => e), "digest error"); walk(setTimeout(() => {}, 1), "timer");
walk(thrown(() => crypto.getRandomValues(new Float64Array(1))), "random error"); walk(new AbortController(), "abort"); walk(AbortSignal.abort(), "signal");
walk((function () { return arguments })(), "arguments"); walk(new FinalizationRegistry(() => {}), "registry"); walk(new Intl.Segmenter().segment("a"), "segments");
`;

Deno.test("nothing that can be reached from the realm is a port, a worker, a timer list or Deno", async () => {
  const { found, count, leaks } = await valueOf(`${WALK}
    const leaks = [];
    for (const o of seen) for (const name of ["dlopen", "readFileSync", "binding", "postMessage", "core", "ops", "_idlePrev"]) {
      let has = false; try { has = name in o } catch { /* a proxy of ours? */ }
      if (has && o !== globalThis && Object.getOwnPropertyDescriptor(o, name)?.value !== undefined) leaks.push(name)
    }
    ({ found, leaks, count: seen.size })`) as { found: string[]; count: number; leaks: string[] };
  assert.deepEqual([found, leaks], [[], []]);
  assert.ok(count > 500, `only ${count} objects`);
});

Deno.test("text cannot become code", async () => {
  const ways = [
    "eval('1')",
    "(0, eval)('1')",
    "Function('return 1')()",
    "new Function('return 1')()",
    "(() => {}).constructor('return 1')()",
    "(async () => {}).constructor('return 1')()",
    "(function* () {}).constructor('yield 1')()",
    "(async function* () {}).constructor('yield 1')()",
    "fs.readFile.constructor('return 1')()",
    "class A extends Function {}; new A('return 1')()",
    "Reflect.construct(Function, ['return 1'])()",
    "setTimeout('1', 0)",
  ];
  await using box = await testSandbox({ functions });
  for (const code of ways) assert.equal((await box.run(code)).result.outcome, "error", code);
});

Deno.test("AbortController works as programs expect", async () => {
  const code = `
    const seen = [], c = new AbortController();
    c.signal.addEventListener("abort", (e) => seen.push(e.type));
    c.signal.addEventListener("abort", { handleEvent: () => seen.push("object") });
    const gone = () => seen.push("removed"); c.signal.addEventListener("abort", gone); c.signal.removeEventListener("abort", gone);
    c.signal.onabort = () => seen.push("on");
    const any = AbortSignal.any([new AbortController().signal, c.signal]);
    const slow = AbortSignal.timeout(1);
    c.abort("why"); c.abort("again");
    await new Promise((done) => setTimeout(done, 20));
    let threw; try { c.signal.throwIfAborted() } catch (e) { threw = e }
    let made; try { new AbortSignal() } catch (e) { made = e.name }
    ({ seen, reason: c.signal.reason, any: any.reason, threw, made, slow: slow.reason.name, still: AbortSignal.abort().reason.name })`;
  assert.deepEqual(await valueOf(code), {
    seen: ["on", "abort", "object"],
    reason: "why",
    any: "why",
    threw: "why",
    made: "TypeError",
    slow: "TimeoutError",
    still: "AbortError",
  });
});

Deno.test("timers pass arguments, can be cleared, and are bounded", async () => {
  const code = `
    const seen = [];
    setTimeout((a, b) => seen.push(a + b), 1, 2, 3);
    clearTimeout(setTimeout(() => seen.push("cleared"), 1));
    clearTimeout(12345); clearTimeout("x"); clearTimeout();
    const i = setInterval(() => { if (seen.push("tick") > 3) clearInterval(i) }, 1);
    await new Promise((done) => setTimeout(done, 60));
    let many; try { for (;;) setTimeout(() => {}, 1e6) } catch (e) { many = e.name }
    let none; try { setTimeout(5) } catch (e) { none = e.name }
    ({ first: seen.includes(5), cleared: seen.includes("cleared"), ticks: seen.filter((x) => x === "tick").length, many, none })`;
  assert.deepEqual(await valueOf(code), {
    first: true,
    cleared: false,
    ticks: 3,
    many: "RangeError",
    none: "TypeError",
  });
});

Deno.test("crypto has random values, UUIDs and digests alone", async () => {
  const code = `
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")));
    ({ names: [...Object.keys(crypto), ...Object.keys(crypto.subtle)], hex: [...digest.slice(0, 4)],
      uuid: crypto.randomUUID().length, random: crypto.getRandomValues(new Uint8Array(8)).length,
      bad: await crypto.subtle.digest("none", digest).catch(() => "refused") })`;
  assert.deepEqual(await valueOf(code), {
    names: ["getRandomValues", "randomUUID", "subtle", "digest"],
    hex: [0xba, 0x78, 0x16, 0xbf],
    uuid: 36,
    random: 8,
    bad: "refused",
  });
});

Deno.test("a block that breaks the realm harms only itself: results and calls still work", async () => {
  const breaks = [
    "Array.prototype.push = null; Array.prototype.map = null; Array.prototype.filter = null; Array.prototype.join = null",
    "Array.prototype[Symbol.iterator] = function* () { throw 1 }",
    "Object.defineProperty(Array.prototype, 0, { set() { throw 2 }, configurable: true })",
    "Object.defineProperty(Object.prototype, 'then', { get() { throw 3 }, configurable: true })",
    "Map.prototype.get = Map.prototype.set = Map.prototype.has = null; Set.prototype.add = null",
    "String.prototype.slice = String.prototype.split = String.prototype.replace = RegExp.prototype.exec = null",
    "Object.defineProperty(Object.prototype, 'value', { value: 7, configurable: true })",
    "Object.keys = Object.entries = Object.defineProperty = Object.getOwnPropertyDescriptor = Reflect.ownKeys = null",
    "JSON.stringify = JSON.parse = null; TextEncoder.prototype.encode = TextDecoder.prototype.decode = null",
    "Error.prototype.toString = null; Error.stackTraceLimit = 'x'",
    "for (const key of ['Symbol', 'Reflect', 'Object', 'Array', 'Map', 'Uint8Array', 'JSON']) delete globalThis[key]",
    "globalThis.Promise = globalThis.Error = globalThis.Object = globalThis.Array = globalThis.Map = null",
  ];
  const together = runs(4, 1);
  for (let at = 0; at < breaks.length; at += together) {
    await using box = await testSandbox({ functions });
    const some = breaks.slice(at, at + together), code = some.join("\n");
    for (const one of some) await box.run(one);
    const { result } = await box.run("const kept = { a: [1] }; console.log('out'); await fs.readFile('a')");
    assert.deepEqual(
      [result.outcome, result.preview, result.stdout],
      ["value", '"text"', "out\n"],
      `${code}: ${result.error?.message}`,
    );
    const failed = await box.run("null.x");
    assert.equal(failed.result.error?.name, "TypeError", code);
  }
});

/** Adds getters and setters where the runtime itself reads or appends, and records their arguments. */
const SPIES = String.raw`
globalThis.caught = [];
const keep = (x) => { if (typeof x === "object" && x !== null || typeof x === "function") caught.push(x) };
const names = ["data", "ports", "port", "type", "target", "callback", "once", "signal", "passive", "capture", "source",
  "origin", "next", "done", "value", "then", "transfer", "timeout", "_argv", "_idlePrev", "cancelable", "bubbles",
  "path", "item", "listener", "promise", "reason", "error", "message", "get", "set", "constructor", "displayErrors"];
for (const on of [Object.prototype, Array.prototype, Function.prototype]) {
  for (const name of [...names, 0, 1, 2]) {
    try { Object.defineProperty(on, name, { configurable: true, get() { keep(this) }, set(v) { keep(this); keep(v) } }) } catch { /* shut */ }
  }
}
for (const C of [Array, Map, Set, WeakMap, Function, String]) {
  for (const name of Object.getOwnPropertyNames(C.prototype)) {
    const f = Object.getOwnPropertyDescriptor(C.prototype, name).value;
    if (name === "constructor" || name === "push" || typeof f !== "function") continue;
    try { C.prototype[name] = function (...args) { caught[caught.length] = this; return Reflect.apply(f, this, args) } } catch { /* shut */ }
  }
}
class Evil extends Array { constructor(...a) { super(...a); keep(this) } }
Array.prototype.constructor = { [Symbol.species]: Evil };
`;

Deno.test("hooks in shared prototypes are handed nothing of the sandbox's own", async () => {
  await using box = await testSandbox({ functions });
  await box.run(`${SPIES}; 1`);
  await box.run("await fs.readFile('a'); await new Promise((done) => setTimeout(done, 2)); console.log({ a: 1 })");
  await box.run(
    "await crypto.subtle.digest('SHA-1', new Uint8Array(1)); Promise.reject(new Error('stray')); const k = [1]",
  );
  const { result } = await box.run(`
    const bad = [], count = caught.length;
    for (let i = 0; i < count; i++) {
      const x = caught[i];
      let tag = ""; try { tag = Object.prototype.toString.call(x) } catch { continue }
      if (/Port|Event|Worker|Timeout|Immediate|Deno/.test(tag)) bad[bad.length] = tag;
      for (const name of ["postMessage", "_onImmediate", "resolve", "reject", "payload", "runMicrotasks", "dlopen"]) {
        let found; try { found = Object.getOwnPropertyDescriptor(x, name) } catch { continue }
        if (found) bad[bad.length] = name + " of " + tag;
      }
    }
    bad + ""`);
  assert.equal(result.preview, '""', result.error?.message);
});
