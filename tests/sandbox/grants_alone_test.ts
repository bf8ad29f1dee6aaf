/** Tests the effect of each wall on a grant alone, without the realm's own functions. */
import assert from "node:assert/strict";
import type { SandboxTestOptions } from "../../src/sandbox/host/open_sandbox.ts";
import { type TestSandbox, testSandbox } from "../helpers/sandbox.ts";
import { GrantTargets } from "./grant_targets.ts";
import { LANDLOCK_ABI } from "../helpers/system_calls.ts";

type Walls = NonNullable<SandboxTestOptions["walls"]>;
const OFF = { realm: false, permissions: false, limits: false, landlock: false, seccomp: false };
const PERMISSIONS: Walls = { ...OFF, permissions: true };
const KERNEL: Walls = { ...OFF, limits: true, landlock: true, seccomp: true };
/** Without this version of Landlock, grants are refused. */
const canGrant = LANDLOCK_ABI >= 4;

/** Each attempt evaluates to its result, or to "closed" if it threw. */
async function attempt(box: TestSandbox, code: string): Promise<string> {
  const { result } = await box.run(
    `let got; try { got = await (async () => (${code}))() } catch { got = 'closed' } got`,
  );
  return result.ok ? result.preview.replaceAll('"', "") : "closed";
}

interface Case {
  readonly name: string;
  readonly code: (targets: GrantTargets) => string;
  /** The attempts that succeed without walls, as the control. */
  readonly open: string;
  /** The attempts that succeed with the permissions alone, and with the kernel's walls alone. */
  readonly permissions: string;
  readonly kernel: string;
}

const read = (name: string) => (t: GrantTargets): string => `Deno.readTextFile('${t.folder}/${name}')`;
const write = (name: string) => (t: GrantTargets): string =>
  `Deno.writeTextFile('${t.folder}/${name}', 'x').then(() => 'wrote')`;
const connect = (host: string, port: "port" | "otherPort") => (t: GrantTargets): string =>
  `fetch('http://${host}:${t[port]}/').then((r) => r.text())`;

const CASES: readonly Case[] = [
  {
    name: "read what is granted",
    code: read("data/a"),
    open: "text of data/a",
    permissions: "text of data/a",
    kernel: "text of data/a",
  },
  {
    name: "read it at once",
    code: (t) => `Deno.readTextFileSync('${t.folder}/data/sub/b')`,
    open: "text of data/sub/b",
    permissions: "text of data/sub/b",
    kernel: "text of data/sub/b",
  },
  {
    name: "read a granted file",
    code: read("alone"),
    open: "text of alone",
    permissions: "text of alone",
    kernel: "text of alone",
  },
  { name: "read beside it", code: read("data2/a"), open: "text of data2/a", permissions: "closed", kernel: "closed" },
  {
    name: "read beside it, at once",
    code: (t) => `Deno.readTextFileSync('${t.folder}/data2/a')`,
    open: "text of data2/a",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "read beside it by ..",
    code: read("data/../data2/a"),
    open: "text of data2/a",
    permissions: "closed",
    kernel: "closed",
  },
  // Deno compares names and follows links, and the kernel's walls stop these two.
  {
    name: "read by a link out",
    code: read("data/link"),
    open: "text of other/a",
    permissions: "text of other/a",
    kernel: "closed",
  },
  {
    name: "read by a folder that is a link out",
    code: read("data/folder/a"),
    open: "text of other/a",
    permissions: "text of other/a",
    kernel: "closed",
  },
  {
    name: "list the parent",
    code: (t) => `[...Deno.readDirSync('${t.folder}')].length > 0`,
    open: "true",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "read a file granted for writing",
    code: read("out/a"),
    open: "text of out/a",
    permissions: "closed",
    kernel: "closed",
  },
  { name: "write what is granted", code: write("out/new"), open: "wrote", permissions: "wrote", kernel: "wrote" },
  { name: "write what is to be read", code: write("data/a"), open: "wrote", permissions: "closed", kernel: "closed" },
  { name: "write beside it", code: write("other/new"), open: "wrote", permissions: "closed", kernel: "closed" },
  {
    name: "empty what is to be read",
    code: (t) => `(Deno.truncateSync('${t.folder}/data/sub/b'), 'emptied')`,
    open: "emptied",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "remove a file granted for writing",
    code: (t) => `(Deno.removeSync('${t.folder}/out/a'), 'removed')`,
    open: "removed",
    permissions: "removed",
    kernel: "closed",
  },
  {
    name: "make it executable for all",
    code: (t) => `(Deno.chmodSync('${t.folder}/out/new', 0o4777), 'changed')`,
    open: "changed",
    permissions: "changed",
    kernel: "closed",
  },
  {
    name: "connect to a granted address",
    code: connect("127.0.0.1", "port"),
    open: "hi",
    permissions: "hi",
    kernel: "hi",
  },
  // The kernel's walls know ports, not addresses.
  {
    name: "connect to another host, same port",
    code: connect("127.0.0.2", "port"),
    open: "hi",
    permissions: "closed",
    kernel: "hi",
  },
  {
    name: "connect to another port",
    code: connect("127.0.0.1", "otherPort"),
    open: "hi",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "send by UDP to the granted port",
    code: (t) =>
      `__import('node:dgram').then(({ createSocket }) => new Promise((y, n) => { const u = createSocket('udp4'); u.on('error', n); u.send('x', ${t.port}, '127.0.0.1', (e) => { u.close(); e ? n(e) : y('sent') }) }))`,
    open: "sent",
    // Node's sockets bind first, and to another address.
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "connect to a unix socket",
    code: (t) =>
      `Deno.connect({ transport: 'unix', path: '${t.folder}/socket' }).then((c) => (c.close(), 'connected'))`,
    open: "connected",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "listen on the granted port of another address",
    code: (t) => `(Deno.listen({ hostname: '127.0.0.3', port: ${t.port} }).close(), 'listened')`,
    open: "listened",
    permissions: "closed",
    kernel: "closed",
  },
  {
    name: "listen on any port",
    code: () => `(Deno.listen({ hostname: '127.0.0.1', port: 0 }).close(), 'listened')`,
    open: "listened",
    permissions: "closed",
    kernel: "closed",
  },
];

for (const [wall, walls] of [["open", OFF], ["permissions", PERMISSIONS], ["kernel", KERNEL]] as const) {
  Deno.test({
    name: wall === "open" ? "grants: without walls every attempt works" : `grants: the ${wall} wall alone`,
    ignore: !canGrant,
    async fn() {
      await using targets = await GrantTargets.open();
      const grants = {
        net: [`127.0.0.1:${targets.port}`],
        read: [`${targets.folder}/data`, `${targets.folder}/alone`],
        write: [`${targets.folder}/out`],
      };
      const got: Record<string, string> = {};
      let box: TestSandbox | null = null;
      for (const { name, code } of CASES) {
        // Some attempts end the child, because the runtime does not expect a refusal there.
        if (!box || box.sandbox.ended) {
          box = await testSandbox({ grants, test: { walls }, limits: { memoryBytes: 1 << 30 } });
        }
        got[name] = await attempt(box, code(targets));
      }
      await box?.sandbox.close();
      assert.deepEqual(got, Object.fromEntries(CASES.map((one) => [one.name, one[wall]])));
    },
  });
}
