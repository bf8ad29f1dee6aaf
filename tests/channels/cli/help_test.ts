import assert from "node:assert/strict";
import { Command } from "commander";
import { buildProgram, runCli } from "../../../src/channels/cli/cli.ts";
import { runs } from "../../helpers/long_part.ts";
import { fakeIo, fakeServices } from "./_fakes.ts";

/** These commands would do harm where the command ran. */
const DANGEROUS: readonly (readonly string[])[] = [
  ["ID", "--yes"],
  ["a", "b", "c", "--db", "x.db", "--force", "--nope"],
  ["do it", "--output", "json"],
  ["--yes", "ID"],
  ["help", "run"],
];

function pathsOf(command: Command, above: readonly string[] = []): readonly (readonly string[])[] {
  return command.commands.flatMap((one) => {
    const path = [...above, one.name()];
    return [path, ...pathsOf(one, path)];
  });
}

const PATHS = pathsOf(buildProgram({ services: fakeServices(), io: fakeIo(), finish: () => {} }));

/** Returns the whole list in the long part, and otherwise one item of it, in turn. */
function some<T>(list: readonly T[], turn: number): readonly T[] {
  const at = turn % list.length;
  return list.slice(runs(at, 0), runs(at + 1, list.length));
}

async function spied(work: () => Promise<void>): Promise<readonly string[]> {
  const ran: string[] = [];
  const { action } = Command.prototype;
  Command.prototype.action = function (run): Command {
    // deno-lint-ignore no-explicit-any
    return action.call(this, (...args: any[]) => {
      ran.push(this.name());
      return run.apply(this, args as [never]);
    }) as Command;
  };
  try {
    await work();
  } finally {
    Command.prototype.action = action;
  }
  return ran;
}

async function said(...args: readonly string[]): Promise<{ readonly code: number; out: string; err: string }> {
  const io = fakeIo({ args });
  const code = await runCli(fakeServices(), io);
  return { code, out: io.out, err: io.err };
}

Deno.test("help prints the help of every command and runs none, whatever follows", async (t) => {
  assert.ok(PATHS.length > 50, `${PATHS.length} commands`);
  for (const [turn, path] of PATHS.entries()) {
    if (path[0] === "help") continue;
    await t.step(path.join(" "), async () => {
      const wanted = await said(...path, "--help");
      assert.deepEqual([wanted.code, wanted.err], [0, ""]);
      assert.match(wanted.out, /^Usage: vis /);
      const isGroup = PATHS.some((one) => one.length > path.length && path.every((word, at) => one[at] === word));
      const ran = await spied(async () => {
        for (const [at, words] of (isGroup ? [[], ["--yes"], ["--nope", "--force"]] : [[], ...DANGEROUS]).entries()) {
          for (const first of some(["help", "--help", "-h"], turn + at)) {
            assert.deepEqual(await said(first, ...path, ...words), wanted, [first, ...path, ...words].join(" "));
          }
        }
      });
      assert.deepEqual(new Set(ran), new Set(["help"]));
    });
  }
});

Deno.test("--help and -h before or behind the arguments of a command run it no more than help does", async () => {
  const ran = await spied(async () => {
    for (const [at, path] of PATHS.entries()) {
      if (path[0] === "help" || path[0] === "__complete") continue;
      for (const words of DANGEROUS) {
        for (const flag of some(["--help", "-h"], at)) {
          for (const args of [[...path, flag, ...words], [...path, ...words, flag]]) {
            const { code, out, err } = await said(...args);
            assert.ok(code === 0 ? out.startsWith("Usage: vis ") : code === 2, `${args.join(" ")}: ${code} ${err}`);
          }
        }
      }
    }
  });
  assert.deepEqual(ran, []);
});

Deno.test("help of a missing command is an error with the nearest one, and runs nothing", async () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["help", "rnu", "--yes"], "vis: unknown command 'rnu'\n(Did you mean run?)\n(vis help lists all commands)\n"],
    [["--help", "doctr"], "vis: unknown command 'doctr'\n(Did you mean doctor?)\n(vis help lists all commands)\n"],
    [["help", "zzzzzz", "qqqqqq"], "vis: unknown command 'zzzzzz'\n(vis help lists all commands)\n"],
    [
      ["help", "conversations", "delet", "ID", "--yes"],
      "vis: unknown command 'delet'\n(Did you mean delete?)\n(vis help conversations explains its usage)\n",
    ],
  ];
  const ran = await spied(async () => {
    for (const [args, says] of cases) {
      assert.deepEqual(await said(...args), { code: 2, out: "", err: says }, args.join(" "));
    }
  });
  assert.deepEqual(new Set(ran), new Set(["help"]));
});

Deno.test("--help behind a missing command is an error with the nearest one, not the help of the command above", async () => {
  const ask = '(to ask it: vis run "…")\n(vis help lists all commands)\n';
  const below = "(vis help conversations explains its usage)\n";
  const cases: readonly (readonly [readonly string[], string])[] = [
    [["paly", "--help"], `vis: unknown command 'paly'\n${ask}`],
    [["rnu", "-h"], `vis: unknown command 'rnu'\n(Did you mean run?)\n${ask}`],
    [["conversations", "zzz", "--help"], `vis: unknown command 'zzz'\n${below}`],
    [["conversations", "shwo", "-h"], `vis: unknown command 'shwo'\n(Did you mean show?)\n${below}`],
    [["conversations", "help", "shwo"], `vis: unknown command 'shwo'\n(Did you mean show?)\n${below}`],
  ];
  for (const [args, says] of cases) {
    assert.deepEqual(await said(...args), { code: 2, out: "", err: says }, args.join(" "));
  }
  for (const args of [["conversations", "--help"], ["conversations", "help", "show"], ["mcp", "-h"]]) {
    assert.match((await said(...args)).out, /^Usage: vis (?:conversations|mcp) /, args.join(" "));
  }
});

Deno.test("help of words that name no command finds a section of the handbook, or prints the page that they name", async () => {
  const found = await said("help", "fork", "a", "conversation");
  assert.equal(found.code, 0);
  assert.match(found.out, /^guide\/\S+\n\n#+ .*\n[^]*\nSee also:\n {2}vis help \S+ {2}\S/);
  for (const words of [["undo", "a", "commit"], ["run", "on", "a", "server"]]) {
    const { out } = await said("help", ...words);
    assert.match(out, /^guide\/questions#[^]*\nSee also:\n[^]*\n {2}vis help (?:undo|run) {2}\S.*\n$/, words.join(" "));
  }
  const { out } = await said("help", "mcp", "servers", "of", "a", "repository");
  assert.match(out, /^extend\/functions\/mcp#[^]*\n {2}vis help mcp {2}\S.*\n$/);
  assert.match((await said("help", "undo", "files")).out, /^Usage: vis undo /);
  for (
    const [words = "", place = ""] of [["mcp servers", "guide/questions#how-do-i-add-an-mcp"], [
      "telegram group",
      "serve/telegram",
    ]]
  ) {
    assert.ok((await said("help", ...words.split(" "))).out.startsWith(place), words);
  }
  for (const option of ["-c", "--plan", "--rest"]) {
    assert.match((await said("help", "what", "does", option, "do")).out, /^(?:guide|serve|extend)\//, option);
  }
  const page = (await said("help", "guide/approvals")).out;
  assert.equal(page, await Deno.readTextFile(new URL("../../../docs/guide/approvals.md", import.meta.url)));
  assert.match((await said("help", "guide/scripts#exit-codes")).out, /^## Exit codes\n/);
});

Deno.test("help run lists its flags and the exit codes", async () => {
  const { out } = await said("help", "run");
  const flags = ["continue", "conversation", "model", "provider", "max-iterations", "output", "db", "cwd", "quiet"];
  for (const flag of flags) assert.match(out, new RegExp(`--${flag}\\b`));
  assert.match(out, /Exit codes: 0 .* 1 .* 2 .* 3 [^.]*\s130/);
});

Deno.test("help alone is the help of the program, and help help is its own", async () => {
  const program = (await said("help")).out;
  assert.match(program, /^Usage: vis \[options\] \[command\]\n/);
  for (const args of [["--help"], ["-h"], ["help", "--help"], ["--help", "--yes"]]) {
    assert.deepEqual(await said(...args), { code: 0, out: program, err: "" }, args.join(" "));
  }
  for (const args of [["help", "help"], ["help", "help", "run", "x", "--yes"], ["--help", "help"]]) {
    assert.match((await said(...args)).out, /^Usage: vis help \[/, args.join(" "));
  }
});

Deno.test("help of a command of an extension asks for its help alone", async () => {
  const asked: (readonly string[])[] = [];
  const run = (args: readonly string[]) => {
    asked.push(args);
    return Promise.resolve(0);
  };
  const services = fakeServices({ extensionAdmin: () => Promise.resolve({ ...Object(null), run }) });
  for (const first of ["help", "--help", "-h"]) {
    for (const rest of [["memo"], ["memo", "forget", "all", "--yes"], ["--yes", "memo", "add", "--", "x"]]) {
      assert.equal(await runCli(services, fakeIo({ args: [first, ...rest] })), 0);
    }
  }
  assert.deepEqual(asked, Array.from({ length: 9 }, () => ["memo", "--help"]));
});

Deno.test("vis help --schema refuses a command of an extension, which has no JSON output", async () => {
  const admin = {
    ...await fakeServices().extensionAdmin({}),
    commands: () => Promise.resolve([{ name: "notes", doc: "Lists notes.", flags: [] }]),
  };
  const services = fakeServices({ extensionAdmin: () => Promise.resolve(admin) });
  const io = fakeIo({ args: ["help", "--schema", "notes"] });
  assert.equal(await runCli(services, io), 2);
  assert.deepEqual([io.out, io.err], ["", "vis: Cannot show a schema: vis notes has no JSON output\n"]);
});
