/** Attacks on the realm: ways from the values of a block to forbidden values. */
import { type Attack, attackGroup } from "./attack.ts";

const constructors = attackGroup("constructors", { claims: ["realm"] }, {
  "Function of a host function":
    "got(fs.readFile.constructor(`return Deno.readTextFileSync(${JSON.stringify(T.secret)})`)())",
  "Function of a result":
    "got((await fs.readFile('a')).constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of a promise": "got(fs.readFile('a').constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of an error":
    "got((await fs.fail().catch((e) => e)).constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of a timer": "got(setTimeout.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of console": "got(console.log.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of a signal":
    "got(new AbortController().signal.constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of an event listener":
    "const c = new AbortController(); c.signal.addEventListener('abort', function (e) { got((e ?? this).constructor.constructor('return Deno')().readTextFileSync(T.secret)) }); c.abort()",
  "async function": "got(await (async () => {}).constructor('return Deno.readTextFileSync(arguments[0])')(T.secret))",
  "generator function": "got((function* () {}).constructor('yield Deno')().next().value.readTextFileSync(T.secret))",
  "async generator function":
    "got((await (async function* () {}).constructor('yield Deno')().next()).value.readTextFileSync(T.secret))",
  "indirect eval": "got((0, eval)('Deno').readTextFileSync(T.secret))",
  "eval by reflection": "got(Reflect.apply(eval, undefined, ['Deno']).readTextFileSync(T.secret))",
  "timer with text": "setTimeout('globalThis.leak = Deno', 0)",
  "this of a sloppy function": "got(Reflect.construct(Function, ['return this'])().Deno.readTextFileSync(T.secret))",
  "realm of a regular expression":
    "got('x'.replace(/x/, function () { return this?.Deno?.readTextFileSync(T.secret) }))",
});

/** `import_` is a plain import() that the control's realm has, and no real one. */
const imported = attackGroup("import() without walls", { claims: ["realm", "permissions"], control: true }, {
  "import a file": [
    "got((await import_('file://' + T.module)).default)",
    // A worker without permissions can do it in a compiled program, as measured.
    { claims: ["realm", "landlock", "seccomp"] },
  ],
  "import JSON": [
    "got(JSON.stringify((await import_('file://' + T.json, { with: { type: 'json' } })).default))",
    { claims: ["realm", "landlock", "seccomp"] },
  ],
});

const imports = attackGroup("import() in a block", { claims: ["realm"] }, {
  "import() of node:fs": "got((await import('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() of a file": "got((await import('file://' + T.module)).default)",
  "import() of JSON": "got(JSON.stringify((await import('file://' + T.json, { with: { type: 'json' } })).default))",
  "import() of a path": "got((await import(T.module)).default)",
  "import() of its own worker": "got(typeof (await import('./worker.js')) + T.word)",
  "import() with a comment": "got((await import/**/('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() over lines": "got((await import\n// x\n(\n'node:fs'\n)).readFileSync(T.secret, 'utf8'))",
  "import() of a built name": "got((await import(['no', 'de:fs'].join(''))).readFileSync(T.secret, 'utf8'))",
  "import() in a template": "got(`${(await import('node:fs')).readFileSync(T.secret, 'utf8')}`)",
  "import() in a spread": "got([...[await import('node:fs')]][0].readFileSync(T.secret, 'utf8'))",
  "import() in a default":
    "const f = async (m = import('node:fs')) => (await m).readFileSync(T.secret, 'utf8'); got(await f())",
  "import() in a class": "class A { static m = import('node:fs') }; got((await A.m).readFileSync(T.secret, 'utf8'))",
  "import() in an arrow, later": "const f = (x) => import(x); got((await f('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() in a timer":
    "await new Promise((y, n) => setTimeout(() => import('node:fs').then((m) => y(got(m.readFileSync(T.secret, 'utf8'))), n)))",
  "import() with a name that is an object":
    "got((await import({ toString: () => 'node:fs' })).readFileSync(T.secret, 'utf8'))",
  "import.source": "got(typeof await import.source('node:fs') + T.word)",
  "import.defer": "got((await import.defer('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() of data": "await import('data:text/javascript,globalThis.leak=Deno')",
  "import() of a blob":
    "await import(URL.createObjectURL(new Blob(['globalThis.leak=Deno'], { type: 'text/javascript' })))",
  "import() of npm": "await import('npm:is-odd@3.0.1')",
  "import() of jsr": "await import('jsr:@std/path@1')",
  "import() of http": "await import(`http://127.0.0.1:${T.port}/m.js`)",
  "static import": "import fs from 'node:fs'; got(fs.readFileSync(T.secret, 'utf8'))",
  "static export": "export * from 'node:fs'",
  "import.meta": "got(import.meta.url + T.word)",
  "createRequire": "got(require('fs').readFileSync(T.secret, 'utf8'))",
  "module.createRequire": "got(module.createRequire('/')('fs').readFileSync(T.secret, 'utf8'))",
  "node:vm": "got((await import('node:vm')).runInThisContext('Deno').readTextFileSync(T.secret))",
  "node:inspector": "(await import('node:inspector')).open(0)",
  "node:v8 flags": "(await import('node:v8')).setFlagsFromString('--allow-natives-syntax')",
  "node:worker_threads": "new (await import('node:worker_threads')).Worker('1', { eval: true })",
});

const walls = attackGroup("names that the realm lacks", { claims: ["realm"] }, {
  "import http": "await import_(`http://127.0.0.1:${T.port}/m.js`).catch(() => {})",
  "raw operations":
    "got(new TextDecoder().decode(Deno[Deno.internal].core.ops.op_fs_read_file_sync(T.secret, undefined, 0)))",
  "process.binding": [
    "got(Object.keys(process.binding('fs')).length + T.word)",
    { control: true },
  ],
  "process.dlopen": "process.dlopen({ exports: {} }, 'libc.so.6'); got(T.word)",
  "process.exit": "process.exit(0)",
  "Deno.exit": "Deno.exit(0)",
  "close of the worker": "self.close()",
  "MessagePort of structuredClone":
    "const { port1 } = new MessageChannel(); structuredClone(port1, { transfer: [port1] }).postMessage(1)",
  "BroadcastChannel": "new BroadcastChannel('sandbox').postMessage(1)",
  "the worker's own messages": "postMessage({ t: 'done' }); self.postMessage({ t: 'done' })",
  "onmessage of the worker":
    "globalThis.onmessage = (e) => { globalThis.leak = e }; addEventListener('message', () => {})",
  "shared WebAssembly memory": [
    "got(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer + T.word)",
    { control: true },
  ],
  "SharedArrayBuffer": [
    "got(new SharedArrayBuffer(8).byteLength + T.word)",
    { control: true },
  ],
  "Atomics.wait": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); got(T.word)",
  "localStorage": "localStorage.setItem('a', '1'); got(localStorage.getItem('a') + T.word)",
  "caches": "await caches.open('x'); got(T.word)",
  "indexedDB": "indexedDB.open('x'); got(T.word)",
  "the environment": "got(JSON.stringify(Deno.env.toObject()))",
  "the trampoline": "$sandboxTurn(); $sandboxTurn.constructor('return Deno')().readTextFileSync(T.secret)",
});

const hooks = attackGroup("hooks", { claims: ["realm"], dirty: true }, {
  "CallSite":
    "Error.prepareStackTrace = (_, s) => s; for (const c of new Error().stack) { const f = c.getFunction?.() ?? c.getThis?.(); if (f?.Deno) got(f.Deno.readTextFileSync(T.secret)) }",
  "prepareStackTrace by defineProperty":
    "Object.defineProperty(Error, 'prepareStackTrace', { value: (_, s) => s }); got(new Error().stack.map((c) => c.getThis()).find((x) => x?.Deno)?.Deno.readTextFileSync(T.secret))",
  "prepareStackTrace on a subclass":
    "class E extends Error { static prepareStackTrace(_, s) { return s } } const s = new E().stack; if (Array.isArray(s)) got(s[0].getThis().Deno.readTextFileSync(T.secret))",
  "captureStackTrace":
    "const o = {}; Error.captureStackTrace(o); got(String(o.stack).includes('worker') ? T.word : '')",
  "hook of dispatchEvent":
    "EventTarget.prototype.dispatchEvent = function () { globalThis.leak = this }; await fs.readFile('a'); leak.postMessage({ t: 'call' })",
  "hook of Map.get": "Map.prototype.get = function () { globalThis.leak = this }; await fs.readFile('a')",
  "hook of then":
    "try { Promise.prototype.then = function () { globalThis.leak = this } } catch {} await fs.readFile('a')",
  "Object.prototype.then":
    "Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { globalThis.leak = this; return undefined } }); await fs.readFile('a'); delete Object.prototype.then",
  "setters on Array.prototype":
    "Object.defineProperty(Array.prototype, 0, { configurable: true, set(v) { globalThis.leak = v } }); await fs.readFile('a'); delete Array.prototype[0]",
  "pollution before a host call":
    "for (const key of ['id', 't', 'payload', 'name', 'run', 'get', 'set', 'value', 'transfer']) try { Object.prototype[key] = 'polluted' } catch {}\nif ((await fs.readFile('a')).text !== 'nothing') got(T.word)",
  "pollution after a host call":
    "await fs.readFile('a'); for (const key of ['ok', 'message', 'hint', 'constructor', 'toJSON']) try { Object.prototype[key] = 'polluted' } catch {}\nif ((await fs.readFile('a')).text !== 'nothing') got(T.word)",
  "every built-in is a spy": [
    `const seen = new Set(), queue = [];
    const spy = (o, k) => { let d; try { d = Object.getOwnPropertyDescriptor(o, k) } catch { return }
      if (typeof d?.value !== 'function' || !d.writable || k === 'constructor') return;
      const f = d.value; try { o[k] = function (...a) { if (queue.length < 5000) { queue[queue.length] = this; queue[queue.length] = a } return Reflect_apply(f, this, a) } } catch {} };
    const Reflect_apply = Reflect.apply;
    const all = [Array, Map, Set, WeakMap, Promise, String, RegExp, Number, Uint8Array, ArrayBuffer, DataView, Symbol, Error, Function, URL, TextEncoder, TextDecoder, Date].flatMap((c) => [c, c.prototype]);
    const own = [...all, Object, JSON, Math, Reflect, Object.getPrototypeOf(Uint8Array.prototype), Object.getPrototypeOf([][Symbol.iterator]())];
    for (const o of own) for (const k of Object.getOwnPropertyNames(o)) if (!['apply', 'call', 'push'].includes(k)) spy(o, k);
    try { await fs.readFile('a'); await fs.fail().catch(() => {}); console.log('x', [1], new Map()); await new Promise((y) => setTimeout(y, 1)) } catch {}
    for (let i = 0; i < queue.length; i++) { const q = queue[i]; for (const o of [q, ...(typeof q === 'object' && q && q.length ? [q[0], q[1]] : [])]) { try { if (typeof o?.postMessage === 'function' || typeof o?.readTextFileSync === 'function' || typeof o?.runMicrotasks === 'function') { host(T.word); break } } catch {} } }`,
    { deadlineMs: 3000 },
  ],
});

/** Everything that can be reached from the global object and from injected values. */
const walk = attackGroup("walk", { claims: ["realm"], control: true, deadlineMs: 10_000 }, {
  "walk over everything reachable": `
    const err = await fs.fail().catch((e) => e), pr = fs.readFile('a'), res = await pr;
    const todo = [globalThis, fs, host, err, pr, res, console, setTimeout, new AbortController(), (function* () {})(), (async function* () {})(), new URL('a:b'), new TextEncoder()];
    const known = new Set(todo); let bad = '';
    const add = (o) => { if ((typeof o === 'object' && o !== null || typeof o === 'function') && !known.has(o)) { known.add(o); todo.push(o) } };
    for (let i = 0; i < todo.length && i < 50000; i++) {
      const o = todo[i]; let keys; try { keys = Reflect.ownKeys(o); add(Reflect.getPrototypeOf(o)) } catch { continue }
      for (const k of keys) { let d; try { d = Reflect.getOwnPropertyDescriptor(o, k) } catch { continue }
        if (!d) continue; add(d.value); add(d.get); add(d.set);
        if (/^(readTextFileSync|runMicrotasks|postMessage|getBuiltinModule|dlopen|op_\\w+|internalBinding)$/.test(String(k)) && typeof (d.value ?? d.get) === 'function' && String(k) !== 'postMessage') bad ||= String(k);
        if (d.get) try { add(Reflect.apply(d.get, o, [])) } catch {} }
    }
    if (bad) got(T.word)`,
});

const forge = attackGroup("forging", { claims: ["realm"], dirty: true }, {
  "bytes on stdout": 'Deno.stdout.writeSync(new TextEncoder().encode(\'{"t":"call","name":"host"}\\n\'.repeat(100)))',
  "a frame on stdout":
    "const b = new Uint8Array(64); new DataView(b.buffer).setUint32(16, 20, true); Deno.stdout.writeSync(b)",
  "bytes through node": "process.stdout.write('forged\\n'.repeat(100))",
  "descriptor 1 through node:fs": "(await import_('node:fs')).writeSync(1, 'forged\\n'.repeat(100))",
  "stealing stdin": ["Deno.stdin.readSync(new Uint8Array(9))", { deadlineMs: 200 }],
  "an answer of its own": "postMessage({ t: 'answer', id: 1, ok: true, payload: new Uint8Array([1]) })",
  "overwriting injected names":
    "fs = { readFile: () => ({ text: T.word }) }; host = null; console = null; results = null; JSON = null; globalThis.fs = null",
  "overwriting JSON and Object":
    "JSON.stringify = JSON.parse = () => ({ t: 'call', name: 'host' }); Object.keys = () => []; Object.entries = () => [['a', T.word]]; Object.defineProperty = () => {}",
  "overwriting console": "console.log = console.error = () => { throw 1 }; delete globalThis.console",
  "overwriting Promise and timers": "Promise = class {}; setTimeout = queueMicrotask = () => {}",
  "freezing everything":
    "for (const k of Object.getOwnPropertyNames(globalThis)) try { Object.freeze(globalThis[k]) } catch {}",
  "deleting everything":
    "for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {}",
});

export const REALM: readonly Attack[] = [
  ...constructors,
  ...imported,
  ...imports,
  ...walls,
  ...hooks,
  ...walk,
  ...forge,
];
