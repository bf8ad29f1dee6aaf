import assert from "node:assert/strict";
import type { ConfigAdmin, OpenRequest, ScreenRequest, Session } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import { ConfigError } from "../../../../src/domain/errors.ts";
import { fakeAdmin } from "../_fake_admin.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

async function run(args: readonly string[], { terminal = true, problem = "", workspace = Deno.cwd() } = {}) {
  const io = fakeIo({ args, stdinIsTerminal: terminal, stdoutIsTerminal: terminal });
  const asked: ScreenRequest[] = [];
  const providers = problem === "" ? [{ name: "p" }] : [];
  const layer = (given: readonly string[]) =>
    Promise.resolve({ layer: "run", values: { given }, where: String } as const);
  const services = fakeServices({
    configAdmin: () => Promise.resolve({ layer } as Partial<ConfigAdmin> as ConfigAdmin),
    providerAdmin: () =>
      Promise.resolve(fakeAdmin({ providers: () => Promise.resolve({ providers, problem, notes: [] } as never) })),
    open: () =>
      Promise.resolve({
        workspace: Deno.cwd(),
        conversations: { byId: () => Promise.resolve({ workspace }) },
        close: () => Promise.resolve(),
      } as unknown as Session),
    screen: (request) => {
      asked.push(request);
      return Promise.resolve(7);
    },
  });
  const code = await runCli(services, io);
  return { code, asked, out: io.out, err: io.err };
}

Deno.test("vis on a terminal shows the screen, with its exit code", async () => {
  assert.deepEqual(await run([]), { code: 7, asked: [{}], out: "", err: "" });
});

Deno.test("vis hands its flags to the screen", async () => {
  const { asked } = await run(["-c", "--model", "a/b", "--db", "x.db", "--cwd", "/tmp"]);
  assert.deepEqual(asked, [{ continue: true, model: "a/b", db: "x.db", cwd: "/tmp" }]);
  assert.deepEqual((await run(["--conversation", "abc"])).asked, [{ conversation: "abc" }]);
  assert.deepEqual((await run(["--provider", "demo"])).asked, [{ provider: "demo" }]);
  assert.deepEqual((await run(["--add-dir", "../a", "--add-dir=b"])).asked, [{ addDir: ["../a", "b"] }]);
  const [set] = (await run(["--set", "model=m", "go on"])).asked;
  assert.deepEqual([set?.set?.values, set?.request], [{ given: ["model=m"] }, "go on"]);
});

Deno.test("vis shows a conversation in its own workspace, if this folder exists", async () => {
  const [elsewhere, gone] = [Deno.realPathSync("/"), "/gone"];
  const show = async (args: readonly string[], workspace: string) =>
    await run(["--conversation", "abc", ...args], { workspace });
  assert.deepEqual((await show([], elsewhere)).asked, [{ conversation: "abc", cwd: elsewhere }]);
  assert.deepEqual((await show([], gone)).asked, [{ conversation: "abc" }]);
  assert.deepEqual((await show(["--cwd", "/tmp"], elsewhere)).asked, [{ conversation: "abc", cwd: "/tmp" }]);
});

Deno.test("vis with -c and a setting, as in a similar program, names --set", async () => {
  const { code, asked, err } = await run(["-c", "model=m"]);
  assert.deepEqual([code, asked], [2, []]);
  assert.match(err, /\(Vis has --set KEY=VALUE; -c continues the latest conversation\)/);
});

Deno.test("vis without a provider opens the screen, and in a pipe names a remedy", async () => {
  const problem = "No provider is configured";
  assert.deepEqual((await run([], { problem })).asked, [{}]);
  const { code: without, err: said, asked } = await run([], { problem, terminal: false });
  assert.deepEqual([without, said, asked], [3, `vis: ${problem}\n\nvis help lists all commands\n`, []]);
  const { code, err } = await run(["-c"], { terminal: false });
  assert.equal(code, 2);
  assert.match(err, /^vis: Cannot start interactive mode: stdin or stdout is not a terminal/);
});

Deno.test("vis without words runs the piped input as a request, with its options", async () => {
  for (const args of [[], ["-"], ["-c"], ["--provider", "demo"]]) {
    const asked: OpenRequest[] = [];
    const open = (request: OpenRequest) => {
      asked.push(request);
      return Promise.reject(new ConfigError("enough"));
    };
    const io = fakeIo({ args, stdin: "List the routes" });
    assert.equal(await runCli(fakeServices({ open }), io), 3);
    assert.deepEqual([io.out, io.err, asked.length], ["", "vis: enough\n", 1], args.join(" "));
  }
});

Deno.test("vis -v prints the version, as --version does", async () => {
  for (const args of [["-v"], ["--version"], ["-V"], ["-c", "--version"]]) {
    const { code, asked, out } = await run(args);
    assert.deepEqual([code, asked], [0, []], args.join(" "));
    assert.match(out, /^vis \d/);
  }
});

Deno.test("vis refuses flags and places that it does not know", async () => {
  const unknown = await run(["--verbos"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /^vis: unknown option '--verbos'/);
  assert.match((await run(["--verison"])).err, /^vis: unknown option '--verison'\n\(Did you mean --version\?\)/);
  assert.equal((await run(["-c", "--conversation", "abc"])).code, 2);
  const empty = await run(["--conversation", ""]);
  assert.deepEqual([empty.code, empty.asked], [2, []]);
  assert.match(empty.err, /^vis: option '--conversation <id>' argument '' is invalid. Write a value/);
});

Deno.test("words that are no command are the first request of the screen", async () => {
  assert.deepEqual((await run(["fix the tests"])).asked, [{ request: "fix the tests" }]);
  assert.deepEqual((await run(["fix", "the", "tests", "--model", "m"])).asked, [{
    model: "m",
    request: "fix the tests",
  }]);
  assert.deepEqual((await run(["-c", "and now?"])).asked, [{ continue: true, request: "and now?" }]);
  assert.deepEqual((await run(["fix", "--model", "m", "it"])).asked, [{ model: "m", request: "fix it" }]);
  assert.deepEqual((await run(["resume"])).asked, [{ continue: true }]);
  assert.deepEqual((await run(["resume", "01a20990"])).asked, [{ conversation: "01a20990" }]);
  for (const request of ["hello!", "warum?", "こんにちは"]) {
    assert.deepEqual((await run([request])).asked, [{ request }]);
  }
  const typo = await run(["rnu", "it"]);
  assert.deepEqual([typo.code, typo.asked], [2, []]);
  assert.match(
    typo.err,
    /^vis: unknown command 'rnu'\n\(Did you mean run\?\)\n\(to ask it: vis run "…"\)\n\(vis help lists/,
  );
});
