import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";
import { AskedPrograms } from "../../src/processes/approved/approved_programs.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const spawn = async ({ spawn }: EnvironmentView): Promise<string> =>
  await spawn?.(["ls"], { answered: true }).then(({ stdout }) => stdout, (error: Error) => error.message) ?? "none";

function foreign(said: string[]): Extension {
  const options = { doc: "Runs.", args: z.tuple([]), returns: "string" };
  return {
    namespace: "test.foreign",
    alias: { ns: "test.ext.foreign", alias: "foreign" },
    doc: "Runs programs.",
    version: "0.1.0",
    activate: async (env) => said.push(`activate: ${await spawn(env)}`),
    symbols: [
      fn("untimed", spawn, { ...options, untimed: true }),
      fn("timed", spawn, options),
    ],
  };
}

Deno.test("where the wall is not whole, no extension of the user runs anything unasked, wherever it starts a program", async () => {
  const ran = { code: 0, signal: null, stdout: "ran", stderr: "", ms: 0, timedOut: false, truncated: false, notes: [] };
  const walls = { network: false, whole: false, reason: "", loopback: false, unix: false, hides: false, leftOut: [] };
  const programs = new AskedPrograms({
    wall: { spawn: () => Promise.resolve(ran), walls: () => Promise.resolve(walls) },
    state: () => Promise.resolve({ whole: false, some: true, reason: "no namespaces" }),
    mode: "ask",
    env: { PATH: "/usr/bin" },
    visHome: null,
    vouches: () => false,
  });
  const said: string[] = [];
  const workspace = await Deno.realPath(".");
  await using engine = await startEngine([
    replyJson(["[await foreign.untimed(), await foreign.timed(), await foreign.untimed()]"]),
    replyJson([], { final: "That is all" }),
  ], {
    extensions: [foreign(said)],
    workspace,
    spawn: (folder, argv, options, caller) => programs.spawn(folder, argv, options, caller),
  });
  const asked: string[] = [];
  await engine.ask("x", {
    approve: ({ what, exact, extension }) => {
      asked.push(`${extension}: ${what}: ${exact}`);
      return Promise.resolve({ decision: asked.length === 1 ? "once" : "no", reason: "" });
    },
  });
  const question = "test.foreign: run a command behind an incomplete command wall: ls";
  assert.deepEqual(asked, [question, question]);
  const nobody = "Cannot run ls: no user can answer here (Vis asks before commands, because no namespaces)";
  const refused = "Cannot run ls: the user said no (Vis asks before commands, because no namespaces)";
  for (const text of ["ran", nobody, refused]) assert.ok(engine.context(1).includes(`"${text}"`), engine.context(1));
  assert.deepEqual([...new Set(said)], [`activate: ${nobody}`]);
});

Deno.test("a program that a function starts without await ends when the function returns", async () => {
  const ended = Promise.withResolvers<unknown>();
  const forgetful: Extension = {
    namespace: "test.forgetful",
    alias: { ns: "test.ext.forgetful", alias: "forgetful" },
    doc: "Forgets its program.",
    version: "0.1.0",
    symbols: [
      fn("begin", (env: EnvironmentView) => void env.spawn?.(["sleep"]), {
        doc: "Begins.",
        args: z.tuple([]),
        returns: "undefined",
      }),
    ],
  };
  await using engine = await startEngine([
    replyJson(["await forgetful.begin()"]),
    replyJson([], { final: "Done" }),
  ], {
    extensions: [forgetful],
    spawn: (_folder, _argv, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          ended.resolve(signal.reason);
          reject(signal.reason);
        });
      }),
  });
  await engine.ask("x");
  assert.match(String(await ended.promise), /forgetful\.begin has returned/);
});
