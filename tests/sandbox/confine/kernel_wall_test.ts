/** Tests the kernel's walls alone against native code. FFI makes all calls, and their effect decides. */
import assert from "node:assert/strict";
import type { SandboxTestOptions } from "../../../src/sandbox/host/open_sandbox.ts";
import { CHILD_ARGUMENT, childProgram } from "../../../src/sandbox/launch.ts";
import {
  buildSandbox,
  isAlive,
  type TestSandbox,
  testSandbox,
  type TestSandboxOptions,
} from "../../helpers/sandbox.ts";
import { CALLS_AS_CODE, LANDLOCK_ABI } from "../../helpers/system_calls.ts";

type Walls = NonNullable<SandboxTestOptions["walls"]>;
const OFF = { realm: false, permissions: false, limits: false, landlock: false, seccomp: false };
const KERNEL: Walls = { ...OFF, limits: true, landlock: true, seccomp: true };
const GRANTS = { abi: 4 };

const NATIVE = `const libc = Deno.dlopen('libc.so.6', {
  syscall: { parameters: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64', 'i64'], result: 'i64' },
});
const numbers = ${CALLS_AS_CODE};
const call = (name, ...args) => Number(libc.symbols.syscall(BigInt(numbers[name]), ...[0, 1, 2, 3, 4, 5].map((i) => BigInt(args[i] ?? 0))));
const at = (bytes) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
const text = (s) => new TextEncoder().encode(s + '\\0');`;

async function native(walls: Walls, options: Omit<TestSandboxOptions, "test"> = {}): Promise<TestSandbox> {
  const box = await testSandbox({ limits: { memoryBytes: 1 << 30 }, ...options, test: { walls } });
  await box.show(NATIVE);
  return box;
}

/** `abi` is the version of Landlock without which the test proves nothing. */
function kernelTest(name: string, fn: () => Promise<void>, { abi = 1 } = {}): void {
  Deno.test({ name, ignore: LANDLOCK_ABI < abi, fn });
}

/** A process that waits. `grep` searches its status. */
class Stranger implements Disposable {
  readonly #process = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  readonly pid = this.#process.pid;

  status(key: string): string {
    const line = Deno.readTextFileSync(`/proc/${this.pid}/status`).split("\n").find((it) => it.startsWith(key));
    return line?.split(/\s+/)[1] ?? "";
  }

  openFiles(): string {
    const line = Deno.readTextFileSync(`/proc/${this.pid}/limits`).split("\n").find((it) => /open files/.test(it));
    return line?.split(/\s{2,}/)[1] ?? "";
  }

  /** Returns the start of its program, once it is mapped. A process has a number before that. */
  async address(): Promise<number> {
    for (;;) {
      const maps = Deno.readTextFileSync(`/proc/${this.pid}/maps`);
      if (/ r-xp .*\/sleep$/m.test(maps)) return parseInt(maps, 16);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }
}

/** Returns the child's successes with a foreign process: memory read, traced, signalled, limited, looked up. */
async function reached(box: TestSandbox): Promise<string[]> {
  using stranger = new Stranger();
  const { pid } = stranger;
  const files = stranger.openFiles();
  const address = BigInt(await stranger.address());
  const got: string[] = [];
  const memory = await box.run(`const into = new Uint8Array(4);
    const here = new BigUint64Array([at(into), 4n]), there = new BigUint64Array([${address}n, 4n]);
    call('process_vm_readv', ${pid}, at(here), 1, at(there), 1); [...into].join()`);
  if (memory.result.preview.includes("127,69,76,70")) got.push("memory");
  await box.run(`call('ptrace', 0x4206, ${pid})`); // PTRACE_SEIZE
  if (stranger.status("TracerPid") !== "0") got.push("traced");
  await box.run(`call('prlimit64', ${pid}, 7, at(new BigUint64Array([9n, 9n])))`);
  if (stranger.openFiles() !== files) got.push("limited");
  const pidfd = await box.run(`call('pidfd_open', ${pid}) >= 0`);
  if (pidfd.result.preview === "true") got.push("pidfd");
  const environment = await box.run(`const f = call('openat', -100, at(text('/proc/${pid}/environ')), 0);
    const b = new Uint8Array(8); [f >= 0, call('read', f, at(b), 8) > 0].join()`);
  if (environment.result.preview.includes("true,true")) got.push("environment");
  await box.run(`call('kill', ${pid}, 19); call('tgkill', ${pid}, ${pid}, 19); call('tkill', ${pid}, 19)`); // SIGSTOP
  await new Promise((resolve) => setTimeout(resolve, 20));
  if (/^[Tt]/.test(stranger.status("State"))) got.push("signalled");
  return got;
}

const EVERYTHING = ["memory", "traced", "limited", "pidfd", "environment", "signalled"];

kernelTest("native code reaches other processes without a wall", async () => {
  await using box = await native(OFF);
  assert.deepEqual(await reached(box), EVERYTHING);
});

kernelTest("native code does not reach other processes through the kernel wall", async () => {
  await using box = await native(KERNEL);
  assert.deepEqual(await reached(box), []);
  assert.equal(box.sandbox.ended, false);
});

kernelTest("grants do not open other processes", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const grants = { net: ["127.0.0.1:1"], read: [folder], write: [folder] };
    await using box = await native(KERNEL, { grants });
    assert.deepEqual(await reached(box), []);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}, GRANTS);

const SOCKETS: Readonly<Record<string, string>> = {
  "tcp": "call('socket', 2, 1, 0)",
  "tcp6": "call('socket', 10, 0x80801, 6)",
  "mptcp": "call('socket', 2, 1, 262)",
  "udp": "call('socket', 2, 2, 0)",
  "udp6": "call('socket', 10, 2, 0)",
  "raw": "call('socket', 2, 3, 1)",
  "icmp": "call('socket', 2, 2, 1)",
  "unix": "call('socket', 1, 1, 0)",
  "netlink": "call('socket', 16, 3, 0)",
  "packet": "call('socket', 17, 3, 0)",
  "pair of datagrams": "call('socketpair', 1, 2, 0, at(new Int32Array(2)))",
  "io_uring": "call('io_uring_setup', 4, at(new Uint8Array(256)))",
};

async function sockets(box: TestSandbox): Promise<string[]> {
  const made: string[] = [];
  for (const [name, code] of Object.entries(SOCKETS)) if (await box.show(`${code} >= 0`) === "true") made.push(name);
  return made;
}

kernelTest("a net grant gives native code TCP sockets and no other", async () => {
  {
    await using open = await native(OFF);
    const made = await sockets(open);
    for (const name of ["tcp", "udp", "unix", "netlink", "pair of datagrams"]) assert.ok(made.includes(name), name);
  }
  await using none = await native(KERNEL);
  assert.deepEqual(await sockets(none), []);
  await using net = await native(KERNEL, { grants: { net: ["127.0.0.1:9"] } });
  assert.deepEqual(await sockets(net), ["tcp", "tcp6"]);
}, GRANTS);

kernelTest(
  "a net grant lets native code neither listen, nor bind, nor connect to another port by fast open",
  async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    const code = `const s = call('socket', 2, 1, 0);
    const address = new Uint8Array(16); new DataView(address.buffer).setUint16(0, 2, true);
    new DataView(address.buffer).setUint16(2, PORT); address.set([127, 0, 0, 1], 4);
    const data = text('x');`;
    const attempts = {
      "connect": "call('connect', s, at(address), 16)",
      "fast open": "call('sendto', s, at(data), 1, 0x20000000, at(address), 16)",
      "send to": "call('sendto', s, at(data), 1, 0, at(address), 16)",
      "bind": "call('bind', s, at(address), 16)",
      "listen": "call('listen', s, 1)",
      "reuse": "call('setsockopt', s, 1, 15, at(new Int32Array([1])), 4)",
    };
    try {
      await using box = await native(KERNEL, { grants: { net: [`127.0.0.1:${port}`] } });
      for (const [name, attempt] of Object.entries(attempts)) {
        const other = await box.show(`${code.replace("PORT", String(port === 65535 ? 1 : port + 1))} ${attempt}`);
        assert.equal(other, "-1", name);
      }
      assert.equal(await box.show(`${code.replace("PORT", String(port))} ${attempts.connect}`), "0");
      (await listener.accept()).close();
      assert.equal(await box.show(`${code.replace("PORT", String(port))} ${attempts["fast open"]}`), "-1");
    } finally {
      listener.close();
    }
  },
  GRANTS,
);

kernelTest("path grants give native code no stat by path, no O_PATH, no set-id file, no link, no removal", async () => {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  Deno.writeTextFileSync(`${folder}/a`, "a");
  const attempts = {
    "newfstatat": `call('newfstatat', -100, at(text('/etc/passwd')), at(new Uint8Array(256)), 0)`,
    "O_PATH": `call('openat', -100, at(text('/etc/passwd')), 0x200000)`,
    "set-id": `call('openat', -100, at(text('${folder}/set')), 0x41, 0o4755)`,
    "openat2": `call('openat2', -100, at(text('${folder}/a')), at(new BigUint64Array(3)), 24)`,
    "readlinkat": `call('readlinkat', -100, at(text('/proc/self/exe')), at(new Uint8Array(99)), 99)`,
    "fchmodat": `call('fchmodat', -100, at(text('${folder}/a')), 0o777)`,
    "unlinkat": `call('unlinkat', -100, at(text('${folder}/a')), 0)`,
    "renameat2": `call('renameat2', -100, at(text('${folder}/a')), -100, at(text('${folder}/b')), 0)`,
    "symlinkat": `call('symlinkat', at(text('/etc')), -100, at(text('${folder}/l')))`,
    "mkdirat": `call('mkdirat', -100, at(text('${folder}/d')), 0o777)`,
    "mknodat": `call('mknodat', -100, at(text('${folder}/n')), 0o10777, 0)`,
    "execve": `call('execve', at(text('/bin/true')), 0, 0)`,
  };
  // The architecture arm64 never had these forms.
  const older = Deno.build.arch === "aarch64" ? {} : {
    "stat": `call('stat', at(text('${folder}/a')), at(new Uint8Array(256)))`,
    "open": `call('open', at(text('${folder}/a')), 0)`,
    "readlink": `call('readlink', at(text('/proc/self/exe')), at(new Uint8Array(99)), 99)`,
    "chmod": `call('chmod', at(text('${folder}/a')), 0o777)`,
    "unlink": `call('unlink', at(text('${folder}/a')))`,
    "rename": `call('rename', at(text('${folder}/a')), at(text('${folder}/b')))`,
    "symlink": `call('symlink', at(text('/etc')), at(text('${folder}/l')))`,
    "mkdir": `call('mkdir', at(text('${folder}/d')), 0o777)`,
    "mknod": `call('mknod', at(text('${folder}/n')), 0o10777, 0)`,
  };
  try {
    const grants = { read: [folder], write: [folder] };
    await using box = await native(KERNEL, { grants });
    for (const [name, attempt] of Object.entries({ ...attempts, ...older })) {
      assert.equal(await box.show(attempt), "-1", name);
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["a"]);
    assert.equal(await box.show(`call('openat', -100, at(text('${folder}/new')), 0x41, 0o644) >= 0`), "true");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}, GRANTS);

/** Starts a child with an inherited descriptor 9 that is open on `path`. */
async function withInherited(walls: Walls, path: string): Promise<TestSandbox> {
  await buildSandbox();
  const executable = Deno.env.get("VIS_TEST_CHILD");
  const own = executable
    ? { path: executable, args: [CHILD_ARGUMENT] }
    : childProgram({ memoryBytes: 1 << 30, allPermissions: true });
  const script = `exec 9<"$0"; exec "$@"`;
  const program = { path: "/bin/sh", args: ["-c", script, path, own.path, ...own.args] };
  const box = await testSandbox({ limits: { memoryBytes: 1 << 30 }, test: { walls, program } });
  await box.show(NATIVE);
  return box;
}

kernelTest("inherited descriptors are closed, whatever the other walls permit", async () => {
  const path = Deno.makeTempFileSync();
  Deno.writeTextFileSync(path, "inherited");
  // With pread, the read cannot wait, although the number may belong to a pipe of the runtime by then.
  const read =
    "const b = new Uint8Array(9); call('pread64', 9, at(b), 9, 0) > 0 ? new TextDecoder().decode(b) : 'closed'";
  try {
    {
      await using open = await withInherited(OFF, path);
      assert.equal(await open.show(read), '"inherited"');
    }
    await using box = await withInherited({ ...OFF, limits: true }, path);
    assert.equal(await box.show(read), '"closed"');
    const links = [...Deno.readDirSync(`/proc/${box.sandbox.pid}/fd`)].map(({ name }) =>
      Deno.readLinkSync(`/proc/${box.sandbox.pid}/fd/${name}`)
    );
    assert.equal(links.includes(path), false);
    await using walled = await withInherited(KERNEL, path);
    assert.equal(await walled.show(read), '"closed"');
  } finally {
    Deno.removeSync(path);
  }
});

kernelTest("a child whose parent ends before the signal is armed ends on its own", async () => {
  await buildSandbox();
  const own = childProgram({ memoryBytes: 1 << 28, allPermissions: false });
  // The shell stays between, so the child's parent is not the process that the setup names.
  const program = { path: "/bin/sh", args: ["-c", `"$@"; exit $?`, "sh", own.path, ...own.args] };
  await assert.rejects(testSandbox({ test: { program } }), { name: "SandboxEnded" });
});

kernelTest("limits: no core file, few descriptors, not dumpable, killed with its parent", async () => {
  await using box = await testSandbox();
  const { pid } = box.sandbox;
  const limits = Deno.readTextFileSync(`/proc/${pid}/limits`);
  assert.match(limits, /Max core file size +0 +0 /);
  assert.match(limits, /Max open files +64 +64 /);
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  assert.match(status, /NoNewPrivs:\s+1/);
  assert.match(status, /Seccomp:\s+2/);
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    assert.match(Deno.readTextFileSync(`/proc/${pid}/task/${name}/status`), /Seccomp:\s+2/, `thread ${name}`);
  }
  assert.equal(isAlive(pid), true);
});
