import assert from "node:assert/strict";
import type { OpenRequest } from "../../../src/channels/channel.ts";
import { runCli } from "../../../src/channels/cli/cli.ts";
import { ConfigError, OutputError, StoreError, UsageError } from "../../../src/domain/errors.ts";
import { fakeIo, fakeServices } from "./_fakes.ts";

Deno.test("runCli() prints version and help without asking for a service", async () => {
  for (const args of [["version"], ["--version"], ["-V"]]) {
    const io = fakeIo({ args });
    assert.equal(await runCli(fakeServices(), io), 0);
    assert.deepEqual([io.out, io.err], ["vis 1.2.3 (deno 2.9.6, v8 15.0, test)\n", ""]);
  }
  for (const args of [["help"], ["help", "run"], ["run", "--help"], ["-h"], ["help", "conversations", "list"]]) {
    const io = fakeIo({ args });
    assert.equal(await runCli(fakeServices(), io), 0);
    assert.match(io.out, /^Usage: vis /);
    assert.equal(io.err, "");
  }
});

Deno.test("runCli() refuses unknown arguments with 2 and a hint, on stderr alone", async () => {
  const cases: [string[], RegExp][] = [
    [["rnu"], /^vis: unknown command 'rnu'\n\(Did you mean run\?\)\n\(to ask it: /],
    [["hstory"], /^vis: unknown command 'hstory'\n\(Did you mean history\?\)\n\(to ask it: /],
    [["revert"], /^vis: unknown command 'revert'\n\(Vis has vis undo\)\n\(to ask it: /],
    [["tidy", "--provider", "demo", "--db", "x.db"], /^vis: unknown command 'tidy'\n\(to ask it: /],
    [["rollback", "--max-cost", "1"], /^vis: unknown command 'rollback'\n\(Vis has vis undo\)/],
    [["--cwd", "x", "nonsense"], /^vis: unknown command 'nonsense'\n\(to ask it: /],
    [["--model=m", "hstory"], /^vis: unknown command 'hstory'\n\(Did you mean history\?\)/],
    [["rollback"], /^vis: unknown command 'rollback'\n\(Vis has vis undo\)/],
    [["session", "list"], /^vis: unknown command 'session'\n\(Vis has vis conversations list, and vis -c /],
    [["plugin", "install", "x"], /^vis: unknown command 'plugin'\n\(Vis has vis extensions\)/],
    [["help", "doctr"], /^vis: unknown command 'doctr'\n\(Did you mean doctor\?\)/],
    [["run", "--outptu", "json", "x"], /^vis: unknown option '--outptu'\n\(Did you mean --output\?\)/],
    [["run", "x", "--output", "yaml"], /^vis: .*yaml.*text, json, jsonl/],
    [["run", "x", "--db"], /^vis: .*--db <path>.*argument missing/],
    ...["0", "0x", "two"].map((
      told,
    ): [string[], RegExp] => [["run", `--max-iterations=${told}`, "x"], /^vis: .*--max-iterations.* of at least 1/]),
    [["version", "extra"], /^vis: too many arguments/],
    [["doctor", "--nope"], /^vis: unknown option/],
  ];
  for (const [args, says] of cases) {
    const io = fakeIo({ args });
    assert.deepEqual([await runCli(fakeServices(), io), io.out], [2, ""], args.join(" "));
    assert.match(io.err, says);
    const where = says.source.includes("command '") ? "lists all commands" : `${args[0]} explains its usage`;
    assert.ok(io.err.endsWith(`(vis help ${where})\n`), io.err);
  }
  const below: [string[], string][] = [
    [["config", "set", "--nope"], "unknown option '--nope'\n(vis help config set explains its usage)"],
    [
      ["config", "list", "--al"],
      "unknown option '--al'\n(Did you mean --all?)\n(vis help config list explains its usage)",
    ],
    [
      ["conversations", "shwo"],
      "unknown command 'shwo'\n(Did you mean show?)\n(vis help conversations explains its usage)",
    ],
    [["mcp", "lst", "x"], "unknown command 'lst'\n(Did you mean list?)\n(vis help mcp explains its usage)"],
    [["telegram", "block", "5"], "unknown command 'block'\n(vis help telegram explains its usage)"],
  ];
  for (const [args, says] of below) {
    const io = fakeIo({ args });
    assert.deepEqual([await runCli(fakeServices(), io), io.out, io.err], [2, "", `vis: ${says}\n`]);
  }
});

Deno.test("runCli() gives every expected error its code, and JSON if requested", async () => {
  const cases: [Error, number][] = [
    [new OutputError("Cannot write to stdout: the disk is full"), 1],
    [new UsageError("Cannot do u"), 2],
    [new ConfigError("Cannot do c"), 3],
    [new StoreError("Cannot do s", "full"), 3],
  ];
  for (const [error, code] of cases) {
    const services = fakeServices({ open: () => Promise.reject(error) });
    const plain = fakeIo({ args: ["run", "x"] });
    assert.equal(await runCli(services, plain), code);
    assert.deepEqual([plain.out, plain.err], ["", `vis: ${error.message}\n`]);
    for (const flags of [["--output", "json"], ["--output=json"]]) {
      const io = fakeIo({ args: ["run", ...flags, "x"] });
      assert.equal(await runCli(services, io), code);
      assert.deepEqual(JSON.parse(io.out), { error: { code, message: error.message } });
    }
    for (const flags of [["--output", "jsonl"], ["--output=jsonl"]]) {
      const lines = fakeIo({ args: ["run", ...flags, "x"] });
      assert.equal(await runCli(services, lines), code);
      assert.deepEqual(JSON.parse(lines.out), { type: "error", error: { code, message: error.message } });
      assert.equal(lines.out.trimEnd().includes("\n"), false);
    }
  }
});

Deno.test("runCli() answers a wrong flag in JSON where JSON was asked for", async () => {
  const io = fakeIo({ args: ["run", "--output", "json", "--zzzzzz"] });
  assert.equal(await runCli(fakeServices(), io), 2);
  assert.deepEqual(JSON.parse(io.out), { error: { code: 2, message: "unknown option '--zzzzzz'" } });
});

Deno.test("runCli() refuses --json beside --output text", async () => {
  for (const words of [["run", "x"], ["models"]]) {
    const io = fakeIo({ args: [...words, "--json", "--output", "text"] });
    assert.equal(await runCli(fakeServices(), io), 2);
    assert.match(
      io.err,
      /^vis: Cannot use --json with --output text: they exclude each other; use only one of them\n$/,
    );
  }
});

Deno.test("runCli() refuses --plan with a typed /review", async () => {
  const io = fakeIo({ args: ["run", "--plan", "/review main"] });
  assert.equal(await runCli(fakeServices({ prompts: () => Promise.resolve([]) }), io), 2);
  assert.match(io.err, /^vis: Cannot use --plan with \/review: they exclude each other; use only one of them\n$/);
});

Deno.test("runCli() lets a defect through", async () => {
  const services = fakeServices({ open: () => Promise.reject(new TypeError("a defect")) });
  const io = fakeIo({ args: ["run", "x"] });
  await assert.rejects(runCli(services, io), TypeError);
  assert.equal(io.out, "");
  const json = fakeIo({ args: ["run", "--output", "json", "x"] });
  await assert.rejects(runCli(services, json), TypeError);
  assert.deepEqual(JSON.parse(json.out), { error: { code: 1, message: "a defect" } });
});

Deno.test("runCli() runs a command after options, and takes the words of a continued conversation for a request", async () => {
  const asked: (string | undefined)[] = [];
  const services = fakeServices({
    extensionAdmin: ({ cwd }) => {
      asked.push(cwd);
      return Promise.resolve({ ...Object(null), run: () => Promise.reject(new ConfigError("enough")) });
    },
    open: () => Promise.reject(new ConfigError("a request")),
  });
  const cases: [string[], string][] = [
    [["--cwd", "undo", "undo"], "vis: enough\n"],
    [["--provider", "p", "undo"], "vis: unknown option '--provider'\n(vis help undo explains its usage)\n"],
    [["--nope", "config", "list"], "vis: unknown option '--nope'\n(vis help config list explains its usage)\n"],
    [["--continue", "undo"], "vis: unknown option '--continue'\n(vis help undo explains its usage)\n"],
    [["-qc", "go"], "vis: a request\n"],
    [["--conversation", "01a22fa0", "undo", "it"], "vis: a request\n"],
    [["--cwd", "x", "--", "undo"], "vis: a request\n"],
    [["--cwd", "x", "undo?"], "vis: a request\n"],
    [["--cwd", "x", "/plan", "undo"], "vis: a request\n"],
  ];
  for (const [args, says] of cases) {
    const io = fakeIo({ args });
    await runCli(services, io);
    assert.equal(io.err, says, args.join(" "));
  }
  assert.equal(asked[0], "undo");
});

Deno.test("runCli() passes the flags of run to the function that opens a session", async () => {
  const asked: OpenRequest[] = [];
  const services = fakeServices({
    open: (request) => {
      asked.push(request);
      return Promise.reject(new ConfigError("enough"));
    },
  });
  const flags = ["--db", "d", "--cwd", "c", "--model", "m", "--provider", "p", "--max-iterations", "12"];
  await runCli(services, fakeIo({ args: ["run", ...flags, "x"] }));
  const { db, cwd, model, provider, maxIterations } = asked[0] ?? {};
  assert.deepEqual({ db, cwd, model, provider, maxIterations }, {
    db: "d",
    cwd: "c",
    model: "m",
    provider: "p",
    maxIterations: 12,
  });
});

Deno.test("runCli() lists the commands of extensions that it does not run itself in the help, if they can be read", async () => {
  const found = [{ name: "memo", doc: "Keeps a note", flags: [] }, { name: "undo", doc: "Taken", flags: [] }, {
    name: "mcp-login",
    doc: "Taken too",
    flags: [],
  }];
  const commands = () => Promise.resolve(found);
  const services = fakeServices({ extensionAdmin: () => Promise.resolve({ ...Object(null), commands }) });
  for (const args of [["help"], ["--help"]]) {
    const io = fakeIo({ args });
    assert.equal(await runCli(services, io), 0);
    assert.match(io.out, /From extensions:\n {2}memo +Keeps a note\n\n/);
    assert.doesNotMatch(io.out, /Taken/);
  }
  const broken = fakeServices({ extensionAdmin: () => Promise.reject(new ConfigError("No home")) });
  const io = fakeIo({ args: ["help"] });
  assert.deepEqual([await runCli(broken, io), io.err], [0, ""]);
  assert.doesNotMatch(io.out, /From extensions/);
});

Deno.test("runCli() asks extensions for a command that is not its own, and for its help", async () => {
  const asked: (readonly string[])[] = [];
  const services = fakeServices({
    extensionAdmin: () =>
      Promise.resolve({
        ...Object(null),
        run: (args: readonly string[], { print }: { readonly print: (text: string) => void }) => {
          asked.push(args);
          print("told\n");
          return Promise.resolve(args[0] === "memo" ? 0 : null);
        },
      }),
  });
  for (const args of [["memo", "list"], ["help", "memo"]]) {
    const io = fakeIo({ args });
    assert.deepEqual([await runCli(services, io), io.out], [0, "told\n"]);
  }
  assert.deepEqual(asked, [["memo", "list"], ["memo", "--help"]]);
  const other = fakeIo({ args: ["help", "memmo"] });
  assert.equal(await runCli(services, other), 2);
  assert.match(other.err, /^vis: unknown command 'memmo'/);
});

Deno.test("runCli() says that an unknown command is an extension that is loaded, and asks no model", async () => {
  const listed = [["memo", "loaded"], ["other", "off"]].map(([alias, state]) => ({ alias, state }));
  const admin = { ...Object(null), list: () => Promise.resolve(listed), run: () => Promise.resolve(null) };
  const services = fakeServices({ extensionAdmin: () => Promise.resolve(admin) });
  for (const args of [["memo"], ["memo", "list"]]) {
    const io = fakeIo({ args });
    assert.deepEqual([await runCli(services, io), io.out], [2, ""]);
    assert.match(
      io.err,
      /^vis: unknown command 'memo'\n\(memo is an extension; vis extensions show memo describes it\)\n\(to ask it: /,
    );
  }
  const off = fakeIo({ args: ["other"] });
  assert.equal(await runCli(services, off), 2);
  assert.doesNotMatch(off.err, /is an extension/);
});

Deno.test("runCli() runs plain words as a request, but no misspelled or missing command", async () => {
  const opened = fakeServices({ open: () => Promise.reject(new ConfigError("It was asked")) });
  for (
    const args of [["fix the tests"], ["fix", "the", "tests"], ["runn it"], ["list", "routes", "--model", "m"], [
      ...["revert", "the", "last", "commit"],
    ]]
  ) {
    const io = fakeIo({ args });
    assert.deepEqual([await runCli(opened, io), io.err], [3, "vis: It was asked\n"], args.join(" "));
  }
  for (const args of [["rnu", "x"], ["conversation", "list"], ["shout"], ["shout", "--loud"]]) {
    const io = fakeIo({ args });
    assert.equal(await runCli(fakeServices(), io), 2, args.join(" "));
  }
});

Deno.test("runCli() prints JSON of the same value, without characters that command a terminal or hide", async () => {
  const message = "a\u009b2J\u202e\u200b\u{e0041}\r\n👩\u200d💻";
  const services = fakeServices({ open: () => Promise.reject(new UsageError(message)) });
  const io = fakeIo({ args: ["run", "--output", "json", "x"] });
  await runCli(services, io);
  assert.match(io.out, /"a\\u009b2J\\u202e\\u200b\\udb40\\udc41\\r\\n👩\u200d💻"/);
  assert.deepEqual(JSON.parse(io.out), { error: { code: 2, message } });
});

Deno.test("runCli() ends with 1 and the message of the error if a command of an extension fails", async () => {
  const io = fakeIo({ args: ["tidy", "now"] });
  const admin = {
    ...await fakeServices().extensionAdmin({}),
    run: () => Promise.reject(new Error("Cannot tidy: full")),
  };
  const services = fakeServices({ extensionAdmin: () => Promise.resolve(admin) });
  assert.deepEqual([await runCli(services, io), io.out, io.err], [1, "", "vis: Cannot tidy: full\n"]);
});
