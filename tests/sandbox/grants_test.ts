import assert from "node:assert/strict";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import { type TestSandbox, testSandbox } from "../helpers/sandbox.ts";
import { ALL_GLOBALS, GrantTargets } from "./grant_targets.ts";
import { LANDLOCK_ABI } from "../helpers/system_calls.ts";

/** Without this version of Landlock, grants are refused. */
const canGrant = LANDLOCK_ABI >= 4;

function open(targets: GrantTargets, globals: readonly string[] = ALL_GLOBALS): Promise<TestSandbox> {
  return testSandbox({
    grants: {
      net: [`127.0.0.1:${targets.port}`],
      read: ["data", "alone"],
      write: ["out"],
      env: ["GRANTED", "UNSET"],
    },
    globals,
    workspace: targets.folder,
    environment: { GRANTED: "yes", GRANTED2: "no", SECRET: "no" },
  });
}

async function error(box: TestSandbox, code: string): Promise<string> {
  const { result } = await box.run(code);
  assert.equal(result.outcome, "error", `${code}: ${result.outcome} ${result.preview}`);
  return `${result.error?.name}: ${result.error?.message}`;
}

function grantTest(name: string, run: (targets: GrantTargets) => Promise<void>): void {
  Deno.test({
    name,
    ignore: !canGrant,
    fn: async () => {
      await using targets = await GrantTargets.open();
      await run(targets);
    },
  });
}

grantTest("read grants open what they name, by every function, and all walls still hold", async (targets) => {
  await using box = await open(targets);
  const { walls } = box.sandbox;
  assert.deepEqual([walls.realm, walls.permissions, walls.process, walls.kernel.seccomp], [true, true, true, true]);
  assert.equal(await box.show("await Deno.readTextFile('data/a')"), '"text of data/a"');
  assert.equal(await box.show(`await Deno.readTextFile('${targets.folder}/data/sub/b')`), '"text of data/sub/b"');
  assert.equal(await box.show("await Deno.readTextFile('alone')"), '"text of alone"');
  assert.equal(await box.show("(await Deno.readFile('data/a')).length"), "14");
  assert.equal(
    await box.show("const s = await Deno.stat('data/a'); [s.size, s.isFile, s.mtime instanceof Date].join()"),
    '"14,true,true"',
  );
  assert.equal(
    await box.show("const l = []; for await (const e of Deno.readDir('data')) l.push(e.name); l.sort().join()"),
    '"a,folder,inner,link,sub"',
  );
});

const CLOSED: Readonly<Record<string, string>> = {
  "a folder whose name begins the same": "await Deno.readTextFile('data2/a')",
  "a neighbour by ..": "await Deno.readTextFile('data/../data2/a')",
  "the parent": "for await (const e of Deno.readDir('.')) e",
  "a link out of it": "await Deno.readTextFile('data/link')",
  "a link within it, which is not followed either": "await Deno.readTextFile('data/inner')",
  "a folder that is a link out of it": "await Deno.readTextFile('data/folder/a')",
  "a list of a folder that is a link out of it": "for await (const e of Deno.readDir('data/folder')) e",
  "a look at a neighbour": "await Deno.stat('data2/a')",
  "what is only to be written": "await Deno.readTextFile('out/a')",
  "the environment of the process": "await Deno.readTextFile('/proc/self/environ')",
  "a variable that is not named": "Deno.env.get('SECRET')",
  "a variable whose name begins the same": "Deno.env.get('GRANTED2')",
  "what every object has": "Deno.env.get('toString')",
};
grantTest("read and env grants do not open their neighbours", async (targets) => {
  await using box = await open(targets);
  for (const code of Object.values(CLOSED)) assert.match(await error(box, code), /Cannot (read|list|look at) /);
  assert.match(
    await error(box, "await Deno.readTextFile('data2/a')"),
    /Cannot read .*: the sandbox has no grant for it$/,
  );
  assert.equal(await box.show("[Deno.env.get('GRANTED'), Deno.env.get('UNSET')].join()"), '"yes,"');
});

grantTest("write grants open what they name and not its neighbours", async (targets) => {
  await using box = await open(targets);
  await box.show(
    "await Deno.writeTextFile('out/new', 'one'); await Deno.writeTextFile('out/new', ' two', { append: true })",
  );
  await box.show("await Deno.writeFile('out/bytes', new Uint8Array([104, 105]))");
  await box.show("await Deno.writeTextFile('out/a', 'over')");
  assert.deepEqual(["out/new", "out/bytes", "out/a"].map((name) => targets.text(name)), ["one two", "hi", "over"]);
  for (const name of ["data/a", "data/new", "out/../other/new", "out/link", "data2/new", "alone", "new"]) {
    assert.match(await error(box, `await Deno.writeTextFile('${name}', 'x')`), /Cannot write /);
  }
  assert.equal(targets.text("data/a"), "text of data/a");
  assert.equal(targets.text("alone"), "text of alone");
  assert.deepEqual([...Deno.readDirSync(`${targets.folder}/other`)].map(({ name }) => name), ["a"]);
  assert.deepEqual([...Deno.readDirSync(`${targets.folder}/data2`)].map(({ name }) => name), ["a"]);
});

grantTest("net grants open host and port, and not their neighbours", async (targets) => {
  await using box = await open(targets);
  const { port, otherPort } = targets;
  assert.equal(await box.show(`await (await fetch('http://127.0.0.1:${port}/')).text()`), '"hi"');
  assert.equal(await box.show(`await (await fetch('http://localhost:${port}/')).text()`), '"hi"');
  assert.deepEqual(await targets.contacted(), ["127.0.0.1:granted", "127.0.0.1:granted"]);
  for (
    const url of [`http://127.0.0.2:${port}/`, `http://127.0.0.1:${otherPort}/`, "http://example.com/", "file:///x"]
  ) {
    assert.match(await error(box, `await fetch('${url}')`), /Cannot fetch /);
  }
  assert.deepEqual(await targets.contacted(), []);
});

grantTest("a global is there only where it was asked for", async (targets) => {
  await using box = await open(targets, ["Deno.readTextFile"]);
  assert.equal(
    await box.show("[Object.keys(Deno), typeof fetch, typeof Blob, typeof Deno.env].join()"),
    '"readTextFile,undefined,undefined,undefined"',
  );
  await using none = await testSandbox();
  assert.equal(
    await none.show("[typeof Deno, typeof fetch, typeof Headers].join()"),
    '"undefined,undefined,undefined"',
  );
});

grantTest("granted functions lead to nothing else and keep to the time of their block", async (targets) => {
  await using box = await open(targets);
  const walk =
    `const all = new Set(), wait = [Deno, fetch, Request, Response, Headers, FormData, Blob, await Deno.stat('data/a'),
      Deno.readDir('data'), await fetch('http://127.0.0.1:${targets.port}/'), await Deno.readTextFile('no').catch((e) => e)];
    for (let it; (it = wait.pop()) !== undefined;) {
      if ((typeof it !== 'object' && typeof it !== 'function') || it === null || all.has(it) || it === globalThis) continue;
      all.add(it);
      for (const key of Reflect.ownKeys(it)) { const d = Object.getOwnPropertyDescriptor(it, key); wait.push(d.value, d.get, d.set) }
      wait.push(Object.getPrototypeOf(it));
    }
    [...all].flatMap((o) => Reflect.ownKeys(o)).filter((k) => ['open', 'openSync', 'Command', 'core', 'connect', 'dlopen', 'body'].includes(k)).join()`;
  assert.equal(await box.show(walk), '""');
  assert.match(
    await error(box, "(await Deno.readTextFile('no').catch((e) => e)).constructor.constructor('return 1')()"),
    /EvalError|Code generation/,
  );
  const late = await box.run(`await fetch('http://127.0.0.1:${targets.port}/'); for (;;) {}`, { deadlineMs: 300 });
  assert.equal(late.result.outcome, "timeout");
  assert.equal(await box.show("1"), "1");
  const waiting = await box.run(
    `globalThis.f = fetch('http://127.0.0.1:${targets.port}/', { signal: AbortSignal.abort(new Error('mine')) }); await f`,
  );
  assert.equal(waiting.result.error?.message, "mine");
});

grantTest(
  "fetch hands no object of the runtime to what a block put in place of globals and methods",
  async (targets) => {
    await using box = await open(targets);
    const got = await box.show(`const leaks = [], Own = Request, undo = [];
    let busy = false;
    const add = (self, list) => {
      if (busy) return;
      busy = true;
      for (let i = 0; i < list.length; i++) leaks[leaks.length] = list[i];
      leaks[leaks.length] = self;
      leaks[leaks.length] = globalThis.Request;
      busy = false;
    };
    const Fake = class { constructor() { add(this, arguments) } };
    globalThis.Request = Fake;
    for (const type of [Array, Map, Set, WeakMap, Uint8Array, Reflect.getPrototypeOf(Uint8Array)]) {
      for (const key of Reflect.ownKeys(type.prototype)) {
        const d = Object.getOwnPropertyDescriptor(type.prototype, key), f = d.value, apply = Reflect.apply;
        if (key === 'constructor' || typeof f !== 'function' || !d.configurable) continue;
        undo.push(() => Object.defineProperty(type.prototype, key, d));
        Object.defineProperty(type.prototype, key, { ...d, value: function () { add(this, arguments); return apply(f, this, arguments) } });
      }
    }
    const Before = URL;
    globalThis.URL = class extends Before { constructor(a, b) { super(a, b); add(a, [b]) } };
    let text;
    try {
      text = await (await fetch('http://127.0.0.1:${targets.port}/', { method: 'POST', body: 'x', headers: { a: 'b' } })).text();
    } finally {
      busy = true;
      for (let i = 0; i < undo.length; i++) undo[i]();
    }
    const strange = leaks.filter((it) => (typeof it === 'function' && it.name === 'Request' && it !== Own) ||
      (typeof it === 'object' && it !== null && /AbortSignal|Request|Headers|Response/.test(Object.prototype.toString.call(it))));
    [text, leaks.length > 0, strange.length].join()`);
    assert.equal(got, '"hi,true,0"');
  },
);

grantTest("fetch follows redirects within the grant and not out of it", async (targets) => {
  const seen: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    seen.push(`${request.method} ${pathname} ${await request.text()} ${request.headers.get("authorization")}`);
    const to = searchParams.get("to");
    return to
      ? new Response(null, { status: Number(pathname.slice(1)), headers: { location: to } })
      : new Response("end");
  });
  const { port } = server.addr;
  try {
    await using box = await testSandbox({ grants: { net: [`127.0.0.1:${port}`] }, globals: ["fetch"] });
    const post = (path: string): string =>
      `const r = await fetch('http://127.0.0.1:${port}${path}', { method: 'POST', body: 'x', headers: { authorization: 'a' } }); [await r.text(), r.redirected].join()`;
    assert.equal(await box.show(post("/302?to=/got")), '"end,true"');
    assert.equal(await box.show(post("/307?to=/kept")), '"end,true"');
    assert.deepEqual(seen, ["POST /302 x a", "GET /got  a", "POST /307 x a", "POST /kept x a"]);
    for (const to of [`http://127.0.0.1:${targets.port}/`, `http://127.0.0.2:${port}/`, "file:///etc/passwd"]) {
      assert.match(
        await error(box, `await fetch('http://127.0.0.1:${port}/302?to=${encodeURIComponent(to)}')`),
        /Cannot fetch/,
      );
    }
    assert.match(
      await error(box, `await fetch('http://127.0.0.1:${port}/302?to=/302%3Fto%3D/x', { redirect: 'error' })`),
      /Cannot fetch .*: the server redirects to \/302\?to=\/x/,
    );
    assert.equal(
      await box.show(`(await fetch('http://127.0.0.1:${port}/302?to=/x', { redirect: 'manual' })).status`),
      "302",
    );
    assert.deepEqual(await targets.contacted(), []);
  } finally {
    await server.shutdown();
  }
});

const REFUSED: readonly [string, Parameters<typeof testSandbox>[0], RegExp][] = [
  [
    "a host name",
    { grants: { net: ["example.com:443"] }, globals: ["fetch"] },
    /the lookup of a name needs UDP.*main process/,
  ],
  ["a host without a port", { grants: { net: ["127.0.0.1"] }, globals: ["fetch"] }, /127\.0\.0\.1:8080/],
  [
    "a path that is not there",
    { grants: { read: ["/no/such"] } },
    /Cannot grant the sandbox read access to \/no\/such: the path does not exist/,
  ],
  ["the root", { grants: { read: ["/"] } }, /contains or is part of \/proc, \/sys or \/dev/],
  ["the processes", { grants: { read: ["/proc/self"] } }, /contains or is part of \/proc, \/sys or \/dev/],
  ["a device", { grants: { write: ["/dev/null"] } }, /contains or is part of \/proc, \/sys or \/dev/],
  ["a relative path without a workspace", { grants: { read: ["data"] } }, /no workspace/],
  ["an empty path", { grants: { read: [""] }, workspace: "/tmp" }, /the path is empty/],
  ["a global without its grant", { globals: ["fetch"] }, /Cannot give the sandbox fetch: no grant for net exists/],
  [
    "a global that does not exist",
    { globals: ["Deno.Command"] },
    /Cannot give the sandbox the global Deno\.Command: no such global exists/,
  ],
];
for (const [what, options, message] of REFUSED) {
  Deno.test({
    name: `openSandbox() refuses ${what}`,
    ignore: !canGrant,
    fn: () => assert.rejects(testSandbox(options), message),
  });
}

Deno.test({
  name: "openSandbox() refuses a folder that became a link after it was resolved",
  ignore: !canGrant,
  async fn() {
    await using targets = await GrantTargets.open();
    const path = `${targets.folder}/data`;
    const realPathSync = Deno.realPathSync;
    try {
      Deno.realPathSync = (given) => {
        const real = realPathSync(given);
        Deno.renameSync(path, `${path}-moved`);
        Deno.symlinkSync(`${targets.folder}/other`, path);
        return real;
      };
      await assert.rejects(testSandbox({ grants: { read: [path] } }), /Vis cannot open it/);
    } finally {
      Deno.realPathSync = realPathSync;
    }
  },
});

Deno.test("run and ffi are no kinds of grant", async () => {
  const options = {
    functions: [],
    constants: {},
    onCall: () => Promise.resolve(),
    limits: { memoryBytes: 1 << 28, outputBytes: 1, graceMs: 1, previewChars: 1 },
  };
  for (const kind of ["run", "ffi", "sys", "import"]) {
    const grants = { net: [], read: [], write: [], env: [], [kind]: ["x"] };
    await assert.rejects(openSandbox({ ...options, grants }), {
      message: `Cannot apply the grant ${kind} (x): the sandbox does not know it; choose one of net, read, write, env`,
    });
  }
});
