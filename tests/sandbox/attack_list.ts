/** Each attack is a block that tries to reach something outside, with the targets in `T`. What it achieved is judged
 * by its effect (attack_targets.ts), not by what it says. `T.got(text)` hands over what was read. */
export interface Attack {
  readonly name: string;
  readonly code: string;
  /** Works where no wall stands, and is checked to: otherwise it would prove nothing. */
  readonly control: boolean;
  /** Leaves the realm changed, so that what comes after it in the same child would be another attack. */
  readonly dirty: boolean;
}

/** Names of attacks by group; `import_` is a plain import() that the control's realm has, and nothing in a real one. */
const WORKING: Readonly<Record<string, string>> = {
  "read a file": "got(Deno.readTextFileSync(T.secret))",
  "read a file, async": "got(await Deno.readTextFile(T.secret))",
  "open and read":
    "const f = Deno.openSync(T.secret); const b = new Uint8Array(99); f.readSync(b); got(new TextDecoder().decode(b))",
  "getBuiltinModule fs": "got(process.getBuiltinModule('node:fs').readFileSync(T.secret, 'utf8'))",
  "import node:fs": "got((await import_('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import node:fs/promises": "got(await (await import_('node:fs/promises')).readFile(T.secret, 'utf8'))",
  "import a file": "got((await import_('file://' + T.module)).default)",
  "import JSON": "got(JSON.stringify((await import_('file://' + T.json, { with: { type: 'json' } })).default))",
  "read through a link": "got(Deno.readTextFileSync(T.link))",
  "read through ..": "got(Deno.readTextFileSync(T.dir + '/sub/../secret.txt'))",
  "write a file": "Deno.writeTextFileSync(T.dir + '/written-1', 'x')",
  "write a file, async": "await Deno.writeTextFile(T.dir + '/written-2', 'x')",
  "make a folder": "Deno.mkdirSync(T.dir + '/written-3')",
  "make a link": "Deno.symlinkSync(T.secret, T.dir + '/written-4')",
  "rename": "Deno.renameSync(T.dir + '/movable', T.dir + '/written-5')",
  "remove": "Deno.removeSync(T.dir + '/removable')",
  "chmod": "Deno.chmodSync(T.dir + '/mode', 0o777)",
  "truncate": "Deno.truncateSync(T.dir + '/full', 0)",
  "sqlite file":
    "const q = new (await import_('node:sqlite')).DatabaseSync(T.dir + '/written-6'); q.exec('CREATE TABLE t(x)'); q.close()",
  "parent's environment": "got(Deno.readTextFileSync(`/proc/${T.parent}/environ`))",
  "list /proc/<parent>/fd": "got([...Deno.readDirSync(`/proc/${T.parent}/fd`)].length > 0 ? T.word : '')",
  "TCP connect": "(await Deno.connect({ port: T.port })).close()",
  "TCP connect, node:net":
    "const net = await import_('node:net'); await new Promise((y, n) => net.connect(T.port, '127.0.0.1', y).on('error', n))",
  "fetch": "await fetch(`http://127.0.0.1:${T.port}/`).then((r) => r.text())",
  "WebSocket":
    "await new Promise((y) => { const w = new WebSocket(`ws://127.0.0.1:${T.port}/`); w.onerror = w.onopen = y })",
  "unix socket": "(await Deno.connect({ transport: 'unix', path: T.unix })).close()",
  "abstract socket":
    "const net = await import_('node:net'); await new Promise((y, n) => net.connect({ path: '\\0' + T.abstract }, y).on('error', n))",
  "UDP":
    "const dgram = await import_('node:dgram'); await new Promise((y, n) => { const u = dgram.createSocket('udp4'); u.on('error', n); u.send('x', T.udp, '127.0.0.1', (e) => { u.close(); e ? n(e) : y() }) })",
  "spawn": "new Deno.Command('/bin/sh', { args: ['-c', `echo x > ${T.dir}/written-7`] }).outputSync()",
  "node:child_process": "(await import_('node:child_process')).execSync(`echo x > ${T.dir}/written-8`)",
  "signal a stranger": "Deno.kill(T.victim, 'SIGUSR1')",
  "signal a stranger, node": "process.kill(T.victim, 'SIGUSR1')",
  "FFI":
    "const l = Deno.dlopen('libc.so.6', { kill: { parameters: ['i32', 'i32'], result: 'i32' } }); l.symbols.kill(T.victim, 10); l.close()",
  "nested worker":
    "await new Promise((y, n) => { const w = new Worker('data:text/javascript,' + encodeURIComponent(`postMessage(Deno.readTextFileSync(${JSON.stringify(T.secret)}))`), { type: 'module', deno: { permissions: 'inherit' } }); w.onmessage = (e) => { got(e.data); w.terminate(); y() }; w.onerror = (e) => { e.preventDefault(); n(e) } })",
};

/** These need a hole to work, so that they prove nothing of the control; here they must reach nothing. */
const HOLES: Readonly<Record<string, string>> = {
  "import http": "await import_(`http://127.0.0.1:${T.port}/m.js`).catch(() => {})",
  "raw operations":
    "got(new TextDecoder().decode(Deno[Deno.internal].core.ops.op_fs_read_file_sync(T.secret, undefined, 0)))",
  "Function of a host function":
    "got(fs.readFile.constructor(`return Deno.readTextFileSync(${JSON.stringify(T.secret)})`)())",
  "Function of a result":
    "got((await fs.readFile('a')).constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of a promise": "got(fs.readFile('a').constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of an error":
    "got((await fs.fail().catch((e) => e)).constructor.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of a timer": "got(setTimeout.constructor('return Deno')().readTextFileSync(T.secret))",
  "Function of console": "got(console.log.constructor('return Deno')().readTextFileSync(T.secret))",
  "async function": "got(await (async () => {}).constructor('return Deno.readTextFileSync(arguments[0])')(T.secret))",
  "generator function": "got((function* () {}).constructor('yield Deno')().next().value.readTextFileSync(T.secret))",
  "indirect eval": "got((0, eval)('Deno').readTextFileSync(T.secret))",
  "eval by reflection": "got(Reflect.apply(eval, undefined, ['Deno']).readTextFileSync(T.secret))",
  "timer with text": "setTimeout('globalThis.leak = Deno', 0)",
  "this of a sloppy function": "got(Reflect.construct(Function, ['return this'])().Deno.readTextFileSync(T.secret))",
  "import() of node:fs": "got((await import('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() with a comment": "got((await import/**/('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() of a built name": "got((await import(['no', 'de:fs'].join(''))).readFileSync(T.secret, 'utf8'))",
  "import() in a template": "got(`${(await import('node:fs')).readFileSync(T.secret, 'utf8')}`)",
  "import() in an arrow, later": "const f = (x) => import(x); got((await f('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import() of data": "await import('data:text/javascript,globalThis.leak=Deno')",
  "import() of a blob":
    "await import(URL.createObjectURL(new Blob(['globalThis.leak=Deno'], { type: 'text/javascript' })))",
  "import() of npm": "await import('npm:is-odd@3.0.1')",
  "import() of http": "await import(`http://127.0.0.1:${T.port}/m.js`)",
  "static import": "import fs from 'node:fs'; got(fs.readFileSync(T.secret, 'utf8'))",
  "import.meta": "got(import.meta.url)",
  "createRequire": "got(require('fs').readFileSync(T.secret, 'utf8'))",
  "CallSite":
    "Error.prepareStackTrace = (_, s) => s; for (const c of new Error().stack) { const f = c.getFunction?.() ?? c.getThis?.(); if (f?.Deno) got(f.Deno.readTextFileSync(T.secret)) }",
  "prepareStackTrace by defineProperty":
    "Object.defineProperty(Error, 'prepareStackTrace', { value: (_, s) => s }); got(new Error().stack.map((c) => c.getThis()).find((x) => x?.Deno)?.Deno.readTextFileSync(T.secret))",
  "prepareStackTrace on a subclass":
    "class E extends Error { static prepareStackTrace(_, s) { return s } } const s = new E().stack; if (Array.isArray(s)) got(s[0].getThis().Deno.readTextFileSync(T.secret))",
  "hook of dispatchEvent":
    "EventTarget.prototype.dispatchEvent = function () { globalThis.leak = this }; await fs.readFile('a'); leak.postMessage({ t: 'call' })",
  "hook of Map.get": "Map.prototype.get = function () { globalThis.leak = this }; await fs.readFile('a')",
  "hook of then":
    "try { Promise.prototype.then = function () { globalThis.leak = this } } catch {} await fs.readFile('a')",
  "Object.prototype.then":
    "Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { globalThis.leak = this; return undefined } }); await fs.readFile('a'); delete Object.prototype.then",
  "setters on Array.prototype":
    "Object.defineProperty(Array.prototype, 0, { configurable: true, set(v) { globalThis.leak = v } }); await fs.readFile('a'); delete Array.prototype[0]",
  "MessagePort of structuredClone":
    "const { port1 } = new MessageChannel(); structuredClone(port1, { transfer: [port1] }).postMessage(1)",
  "BroadcastChannel": "new BroadcastChannel('sandbox').postMessage(1)",
  "the worker's own messages": "postMessage({ t: 'done' }); self.postMessage({ t: 'done' })",
  "onmessage of the worker":
    "globalThis.onmessage = (e) => { globalThis.leak = e }; addEventListener('message', () => {})",
  "WebAssembly": "new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })",
  "SharedArrayBuffer": "new SharedArrayBuffer(8)",
  "Atomics.wait": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
  "node:vm": "got((await import('node:vm')).runInThisContext('Deno').readTextFileSync(T.secret))",
  "node:inspector": "(await import('node:inspector')).open(0)",
  "node:v8 flags": "(await import('node:v8')).setFlagsFromString('--allow-natives-syntax')",
  "node:worker_threads": "new (await import('node:worker_threads')).Worker('1', { eval: true })",
  "localStorage": "localStorage.setItem('a', '1')",
  "caches": "await caches.open('x')",
  "the environment": "got(JSON.stringify(Deno.env.toObject()))",
  "the trampoline": "$sandboxTurn(); $sandboxTurn.constructor('return Deno')().readTextFileSync(T.secret)",
};

const attacks = (group: Readonly<Record<string, string>>, control: boolean): Attack[] =>
  Object.entries(group).map(([name, code]) => ({
    name,
    code,
    control,
    dirty: /^(hook|setters|Object\.|prepare|CallSite)/.test(name),
  }));

export const ATTACKS: readonly Attack[] = [...attacks(WORKING, true), ...attacks(HOLES, false)];
