import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, value, z } from "../../src/extension/mod.ts";
import { sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { shown } from "./_shown.ts";

const END = replyJson([], { final: "That is all" });

const says = (name: string, run: (env: EnvironmentView, ...args: unknown[]) => unknown) =>
  fn(name, run, { doc: "Does.", args: z.tuple([]).rest(z.unknown()), returns: "unknown" });

function late(version: string, requires: readonly string[] = []): Extension {
  const symbols = [says("hello", () => `hello ${version}`), value("version", version, { doc: "Its version." })];
  return sample({ namespace: "test.late", version, requires, symbols });
}

const pack: Extension = sample({
  namespace: "test.pack",
  symbols: [
    says("open", ({ register }, version) => register?.(late(String(version), ["test.pack"]))),
    says("wrong", ({ register }) => register?.(late("9.0.0", ["test.gone"]))),
    says("clash", ({ register }) => register?.({ ...late("9.0.0"), namespace: "test.other" })),
  ],
});

Deno.test("an extension that a call registers is bound from the next query on, and replaced there; variables stay", async () => {
  const open = (version: string) => `await pack.open('${version}'); typeof late`;
  await using engine = await startEngine([
    replyJson(["const n = 41", open("1.0.0")]),
    END,
    replyJson(["[await late.hello(), late.version, n].join()", open("2.0.0"), "late.version"]),
    END,
    replyJson("[await late.hello(), late.version, n].join()"),
    END,
  ], { extensions: [pack] });
  for (const request of ["one", "two", "three"]) await engine.ask(request);
  assert.deepEqual(shown(engine).slice(1), [
    '"undefined"',
    '"hello 1.0.0,1.0.0,41"',
    '"object"',
    '"1.0.0"',
    '"hello 2.0.0,2.0.0,41"',
  ]);
  assert.match(JSON.stringify(engine.provider.requests.at(-1)?.messages), /late\.hello/);
});

Deno.test("an invalid registration gives the block its reason, and the conversation continues", async () => {
  await using engine = await startEngine([
    replyJson(["await pack.wrong()"]),
    replyJson(["await pack.open('1.0.0'); await pack.clash()"]),
    END,
    replyJson(["typeof late.hello"]),
    END,
  ], { extensions: [pack] });
  await engine.ask("one");
  await engine.ask("two");
  assert.match(
    shown(engine)[0] ?? "",
    /Cannot install extension test\.late: a required extension is not loaded \(test\.late → test\.gone\)/,
  );
  assert.match(
    shown(engine)[1] ?? "",
    /Cannot register extension test\.other: its alias late belongs to extension test\.late/,
  );
  assert.equal(shown(engine)[2], '"function"');
});

Deno.test("an extension that is no longer active is unbound in the living conversation, and bound again", async () => {
  let on = true;
  const extension = { ...late("1.0.0"), activate: () => on };
  await using engine = await startEngine([
    replyJson(["const n = 1; const hello = () => late.hello(); await hello()"]),
    END,
    replyJson(["[typeof late, n].join()", "await hello()"]),
    END,
    replyJson(["await hello()"]),
    END,
  ], { extensions: [extension] });
  for (const state of [true, false, true]) {
    on = state;
    await engine.ask("x");
  }
  assert.deepEqual(shown(engine), [
    '"hello 1.0.0"',
    '"undefined,1"',
    "ReferenceError: late is not defined",
    '"hello 1.0.0"',
  ]);
});
