import { call } from "../../helpers/system_calls.ts";
import { type Attack, attackGroup, type Wall } from "./attack.ts";

const ALL: readonly Wall[] = ["realm", "permissions", "landlock", "seccomp"];
/** Landlock does not see these, so the system call filter stops them. */
const UNSEEN: readonly Wall[] = ["realm", "permissions", "seccomp"];
/** These attacks stay in the process itself, where the kernel's walls do not apply. */
const INSIDE: readonly Wall[] = ["realm", "permissions"];

/** Returns native code in the worker, the worst effect of a hole in the engine. */
const native = (name: string, parameters: string, made: string): string =>
  `const l = Deno.dlopen('libc.so.6', { ${name}: { parameters: [${parameters}], result: 'i64' } });
   try { const f = l.symbols.${name}; if (Number(${made}) >= 0) got(T.word) } finally { l.close() }`;
const syscall = (name: Parameters<typeof call>[0], ...args: readonly (number | string)[]): string =>
  native(
    "syscall",
    Array.from({ length: 7 }, () => "'i64'").join(),
    `f(${
      [call(name), ...args, ...Array.from({ length: 6 - args.length }, () => 0)].map((it) => `BigInt(${it})`).join()
    })`,
  );

const files = attackGroup("files", { claims: ALL, control: true }, {
  "read a file": "got(Deno.readTextFileSync(T.secret))",
  "read a file, async": ["got(await Deno.readTextFile(T.secret))", { pooled: true }],
  "open and read":
    "const f = Deno.openSync(T.secret); const b = new Uint8Array(99); f.readSync(b); got(new TextDecoder().decode(b))",
  "getBuiltinModule fs": "got(process.getBuiltinModule('node:fs').readFileSync(T.secret, 'utf8'))",
  "import node:fs": "got((await import_('node:fs')).readFileSync(T.secret, 'utf8'))",
  "import node:fs/promises": [
    "got(await (await import_('node:fs/promises')).readFile(T.secret, 'utf8'))",
    { pooled: true },
  ],
  "read through a link": "got(Deno.readTextFileSync(T.link))",
  "read through ..": "got(Deno.readTextFileSync(T.dir + '/sub/../secret.txt'))",
  "read through /proc/self/root": [
    "got(Deno.readTextFileSync('/proc/self/root' + T.secret))",
    { control: "source" },
  ],
  "list a folder": "got([...Deno.readDirSync(T.dir)].length > 0 ? T.word : '')",
  "copy a file": "Deno.copyFileSync(T.secret, T.dir + '/written-copy')",
  "write a file": "Deno.writeTextFileSync(T.dir + '/written-1', 'x')",
  "write a file, async": ["await Deno.writeTextFile(T.dir + '/written-2', 'x')", { pooled: true }],
  "make a folder": "Deno.mkdirSync(T.dir + '/written-3')",
  "make a link": "Deno.symlinkSync(T.secret, T.dir + '/written-4')",
  "make a hard link": "Deno.linkSync(T.secret, T.dir + '/written-link')",
  "rename": "Deno.renameSync(T.dir + '/movable', T.dir + '/written-5')",
  "remove": "Deno.removeSync(T.dir + '/removable')",
  "truncate": "Deno.truncateSync(T.dir + '/full', 0)",
  "temporary file": "Deno.makeTempFileSync({ dir: T.dir, prefix: 'written-' })",
  "sqlite file":
    "const q = new (await import_('node:sqlite')).DatabaseSync(T.dir + '/written-6'); q.exec('CREATE TABLE t(x)'); q.close()",
  "sqlite ATTACH": [
    "const a = new (await import_('node:sqlite')).DatabaseSync(':memory:'); a.exec(`ATTACH '${T.dir}/written-a' AS x; CREATE TABLE x.t(a)`); a.close()",
    { control: "source" },
  ],
  "sqlite VACUUM INTO": [
    "const v = new (await import_('node:sqlite')).DatabaseSync(':memory:'); v.exec(`CREATE TABLE t(a); VACUUM INTO '${T.dir}/written-v'`); v.close()",
    { control: "source" },
  ],
  "process.loadEnvFile": "process.loadEnvFile(T.dir + '/secret.env'); got(process.env.ATTACK_SECRET)",
  "own environment in /proc": [
    "got(Deno.readTextFileSync('/proc/self/environ').length > 0 ? T.word : '')",
    { control: "source" },
  ],
  "own memory in /proc": [
    "Deno.openSync('/proc/self/mem').close(); got(T.word)",
    { control: "source" },
  ],
  "parent's environment": [
    "got(Deno.readTextFileSync(`/proc/${T.parent}/environ`))",
    { control: "source" },
  ],
  "parent's memory map": [
    "got(Deno.readTextFileSync(`/proc/${T.parent}/maps`).length > 0 ? T.word : '')",
    { control: "source" },
  ],
  "parent's descriptors": "got([...Deno.readDirSync(`/proc/${T.parent}/fd`)].length > 0 ? T.word : '')",
});

const metadata = attackGroup("metadata", { claims: UNSEEN, control: true }, {
  "chmod": "Deno.chmodSync(T.dir + '/mode', 0o777)",
  "stat": "got(Deno.statSync(T.secret).isFile ? T.word : '')",
  "stat, node": "got((await import_('node:fs')).existsSync(T.secret) ? T.word : '')",
  "read a link": "got(Deno.readLinkSync(T.link) === T.secret ? T.word : '')",
  "real path": "got(Deno.realPathSync(T.link) === T.secret ? T.word : '')",
  "set times":
    "Deno.utimeSync(T.dir + '/mode', 0, 0); got(Deno.statSync(T.dir + '/mode').mtime.getTime() === 0 ? T.word : '')",
  "watch a folder": "const w = Deno.watchFs(T.dir); w.close(); got(T.word)",
  "change the folder": ["Deno.chdir('/'); got(Deno.cwd() === '/' ? T.word : '')", { dirty: true }],
});

const network = attackGroup("network", { claims: ALL, control: true }, {
  "TCP connect": "(await Deno.connect({ port: T.port })).close()",
  "TCP connect, node:net":
    "const net = await import_('node:net'); await new Promise((y, n) => net.connect(T.port, '127.0.0.1', y).on('error', n))",
  "TCP listen":
    "const s = Deno.listen({ port: 0, hostname: '127.0.0.1' }); got(s.addr.port > 0 ? T.word : ''); s.close()",
  "fetch": "await fetch(`http://127.0.0.1:${T.port}/`).then((r) => r.text())",
  "WebSocket":
    "await new Promise((y) => { const w = new WebSocket(`ws://127.0.0.1:${T.port}/`); w.onerror = w.onopen = y })",
  "EventSource": [
    "await new Promise((y) => { const e = new EventSource(`http://127.0.0.1:${T.port}/`); e.onerror = e.onopen = () => { e.close(); y() } })",
    { control: false, claims: ["realm"] },
  ],
  "unix socket": ["(await Deno.connect({ transport: 'unix', path: T.unix })).close()", { claims: UNSEEN }],
  "abstract socket": [
    "const net = await import_('node:net'); await new Promise((y, n) => net.connect({ path: '\\0' + T.abstract }, y).on('error', n))",
    { control: "source" },
  ],
  "UDP": [
    "const dgram = await import_('node:dgram'); await new Promise((y, n) => { const u = dgram.createSocket('udp4'); u.on('error', n); u.send('x', T.udp, '127.0.0.1', (e) => { u.close(); e ? n(e) : y() }) })",
    { claims: UNSEEN },
  ],
  "DNS": [
    "await Deno.resolveDns('secret.example', 'A', { nameServer: { ipAddr: '127.0.0.1', port: T.udp } }).catch((e) => { throw e })",
    { claims: UNSEEN },
  ],
});

const processes = attackGroup("processes", { claims: ALL, control: true }, {
  "spawn": "new Deno.Command('/bin/sh', { args: ['-c', `echo x > ${T.dir}/written-7`] }).outputSync()",
  "node:child_process": "(await import_('node:child_process')).execSync(`echo x > ${T.dir}/written-8`)",
  "signal a stranger": "Deno.kill(T.victim, 'SIGUSR1')",
  "signal a stranger, node": "process.kill(T.victim, 'SIGUSR1')",
  "signal the main process": "process.kill(T.parent, 0); got(T.word)",
  "nested worker of node":
    "const { Worker: W } = await import_('node:worker_threads'); await new Promise((y, n) => { const w = new W(`require('node:worker_threads').parentPort.postMessage(require('node:fs').readFileSync(${JSON.stringify(T.secret)}, 'utf8'))`, { eval: true }); w.on('message', (m) => { got(m); w.terminate(); y() }); w.on('error', n) })",
  "inspector": "const i = await import_('node:inspector'); i.open(0); got(i.url() ? T.word : ''); i.close()",
  "nested worker with wider permissions":
    "await new Promise((y, n) => { const w = new Worker('data:text/javascript,' + encodeURIComponent(`postMessage(Deno.readTextFileSync(${JSON.stringify(T.secret)}))`), { type: 'module', deno: { permissions: { read: true, net: true } } }); w.onmessage = (e) => { got(e.data); w.terminate(); y() }; w.onerror = (e) => { e.preventDefault(); n(e) } })",
  "nested worker":
    "await new Promise((y, n) => { const w = new Worker('data:text/javascript,' + encodeURIComponent(`postMessage(Deno.readTextFileSync(${JSON.stringify(T.secret)}))`), { type: 'module', deno: { permissions: 'inherit' } }); w.onmessage = (e) => { got(e.data); w.terminate(); y() }; w.onerror = (e) => { e.preventDefault(); n(e) } })",
});

const nativeCode = attackGroup("native code", { claims: [...INSIDE, "landlock", "seccomp"], control: true }, {
  "FFI, signal a stranger": native("kill", "'i64', 'i64'", "f(BigInt(T.victim), 10n)"),
  "FFI, read a file": [
    "const l = Deno.dlopen('libc.so.6', { open: { parameters: ['buffer', 'i32'], result: 'i32' }, read: { parameters: ['i32', 'buffer', 'usize'], result: 'isize' } }); const b = new Uint8Array(99); const f = l.symbols.open(new TextEncoder().encode(T.secret + '\\0'), 0); l.symbols.read(f, b, 99n); got(new TextDecoder().decode(b)); l.close()",
    {},
  ],
  "FFI, run a program": [
    "const l = Deno.dlopen('libc.so.6', { system: { parameters: ['buffer'], result: 'i32' } }); l.symbols.system(new TextEncoder().encode(`echo x > ${T.dir}/written-9\\0`)); l.close()",
    {},
  ],
  "FFI, io_uring": [
    `const l = Deno.dlopen('libc.so.6', { syscall: { parameters: ['i64', 'i64', 'buffer'], result: 'i64' } }); if (l.symbols.syscall(${
      call("io_uring_setup")
    }n, 4n, new Uint8Array(256)) >= 0) got(T.word); l.close()`,
    { claims: UNSEEN },
  ],
  "FFI, pidfd_open": [syscall("pidfd_open", "T.victim", 0), { claims: UNSEEN }],
  "FFI, memfd_create": [
    "const l = Deno.dlopen('libc.so.6', { memfd_create: { parameters: ['buffer', 'u32'], result: 'i32' } }); if (l.symbols.memfd_create(new Uint8Array([97, 0]), 0) >= 0) got(T.word); l.close()",
    { claims: UNSEEN },
  ],
  "FFI, netlink socket": [syscall("socket", 16, 3, 0), { claims: UNSEEN }],
  "FFI, UDP socket": [syscall("socket", 2, 2, 0), { claims: UNSEEN }],
  "FFI, inotify": [syscall("inotify_init1", 0), { claims: UNSEEN }],
  "FFI, keyring": [syscall("keyctl", 0, -3, 0), { claims: UNSEEN }],
});

export const OUTSIDE: readonly Attack[] = [...files, ...metadata, ...network, ...processes, ...nativeCode];
