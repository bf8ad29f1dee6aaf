import assert from "node:assert/strict";
import type { Command } from "commander";
import { fakeIo, fakeServices } from "../_fakes.ts";
import { buildProgram } from "../../../../src/channels/cli/cli.ts";

const CONTEXT = { services: fakeServices(), io: fakeIo(), finish: () => {} };

Deno.test("buildProgram() builds no more than the part of a command that was asked for, and it has it", () => {
  const all = buildProgram(CONTEXT).commands;
  for (const command of all) {
    const name = command.name();
    if (name === "help" || name === "__complete") continue; // These two describe all commands.
    const part = buildProgram(CONTEXT, { only: name }).commands;
    const same = part.find((one) => one.name() === name);
    assert.ok(same && part.length < all.length / 2, name);
    assert.deepEqual(same.options.map(({ flags }) => flags), command.options.map(({ flags }) => flags), name);
    assert.equal(same.helpGroup(), command.helpGroup(), name);
  }
});

Deno.test("buildProgram() builds all of it for a name that no part has", () => {
  const all = buildProgram(CONTEXT).commands.length;
  for (const only of ["", "help", "__complete", "rnu", "--help"]) {
    assert.equal(buildProgram(CONTEXT, { only }).commands.length, all, only);
  }
});

Deno.test("buildProgram() has no help of a command that is wider than 80 columns", () => {
  const wide = (command: Command, path: string): readonly string[] => {
    const io = fakeIo();
    command.configureOutput({ ...command.configureOutput(), writeOut: io.stdout }).outputHelp();
    const own = io.out.split("\n").filter((line) => line.length > 80).map((line) => `${path}: ${line}`);
    return [...own, ...command.commands.flatMap((one) => wide(one, `${path} ${one.name()}`))];
  };
  assert.deepEqual(wide(buildProgram(CONTEXT), "vis"), []);
});

Deno.test("buildProgram() shows by examples how one begins, and only commands and flags that there are", () => {
  const program = buildProgram(CONTEXT);
  for (const name of ["", "run", "serve"]) {
    const io = fakeIo();
    const at = program.commands.find((one) => one.name() === name) ?? program;
    at.configureOutput({ ...at.configureOutput(), writeOut: io.stdout }).outputHelp();
    const shown = [...io.out.matchAll(/^ {2}(?:.*\| )?vis ([a-z]+)(.*)$/gm)];
    assert.ok(shown.length >= 3, name);
    for (const [line, command, rest = ""] of shown) {
      const known = program.commands.find((one) => one.name() === command);
      assert.ok(known, line);
      for (const [flag] of rest.matchAll(/--[a-z-]+/g)) {
        assert.ok(known.options.some(({ long }) => long === flag), `${flag} of ${line}`);
      }
    }
  }
});
