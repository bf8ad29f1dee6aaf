import assert from "node:assert/strict";
import type { Command } from "commander";
import { fakeIo, fakeServices } from "../_fakes.ts";
import { buildProgram, runCli } from "../../../../src/channels/cli/cli.ts";
import { outputSchemas } from "../../../../src/channels/cli/output_schemas.ts";

function* commandsOf(command: Command, path: readonly string[] = []): Generator<[string, Command]> {
  if (command.commands.length === 0) yield [path.join(" "), command];
  for (const one of command.commands) yield* commandsOf(one, [...path, one.name()]);
}

function program(): Command {
  return buildProgram({ services: fakeServices(), io: fakeIo(), finish: () => {} });
}

Deno.test("outputSchemas() have every command that prints JSON, in each of its formats, and no other", () => {
  const wanted = [...commandsOf(program())].flatMap(([name, { options }]) => {
    const formats = options.find(({ long }) => long === "--output")?.argChoices?.filter((one) => one !== "text") ?? [];
    return formats.map((format) => format === "json" ? name : `${name} ${format}`);
  });
  // The command prints only JSON, so it has no flag for it.
  assert.deepEqual(Object.keys(outputSchemas()).sort(), [...wanted, "config schema", "error"].sort());
});

Deno.test("runCli() takes --json and --output json alike from every command that has one of them", () => {
  for (const [name, { options }] of commandsOf(program())) {
    const flags = options.map(({ long }) => long);
    const formats = options.find(({ long }) => long === "--output")?.argChoices ?? [];
    if (!flags.includes("--json") && !formats.includes("json")) continue;
    assert.ok(flags.includes("--json") && formats.some((format) => format.startsWith("json")), name);
  }
});

Deno.test("vis help --schema prints the schema of one command or of all, and refuses others", async () => {
  const help = async (...words: string[]) => {
    const io = fakeIo({ args: ["help", "--schema", ...words] });
    return { code: await runCli(fakeServices(), io), ...io, out: io.out, err: io.err };
  };
  assert.deepEqual(JSON.parse((await help("version")).out), outputSchemas()["version"]);
  assert.deepEqual(JSON.parse((await help("logs")).out), outputSchemas()["logs jsonl"]);
  assert.deepEqual(JSON.parse((await help()).out).$defs, JSON.parse(JSON.stringify(outputSchemas())));
  const refused = await help("demo");
  assert.deepEqual([refused.code, refused.out], [2, ""]);
});
