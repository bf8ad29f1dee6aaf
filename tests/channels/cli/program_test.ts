import assert from "node:assert/strict";
import { buildProgram } from "../../../src/channels/cli/program.ts";
import { fakeIo, fakeServices } from "./_fakes.ts";

const CONTEXT = { services: fakeServices(), io: fakeIo(), finish: () => {} };

Deno.test("buildProgram() builds no more than the part of a command that was asked for, and it has it", () => {
  const all = buildProgram(CONTEXT).commands;
  for (const command of all) {
    const name = command.name();
    if (name === "help" || name === "__complete") continue; // they tell of all
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
