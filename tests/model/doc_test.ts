import assert from "node:assert/strict";
import { errorForModel } from "../../src/domain/query/host_call.ts";
import { shipped } from "../../extensions/index.ts";
import { withOffParts } from "../../src/app/extensions/extension_source.ts";
import { shippedExtensions } from "../../src/app/settings/settings.ts";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";
import { type EngineOptions, startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import fs from "../../extensions/fs/mod.ts";
import memo from "../../extensions/memo/mod.ts";
import web from "../../extensions/web/mod.ts";

const DONE = replyJson([], { final: "It is done." });

const ALL = await shippedExtensions({ shipped });
const OPTIONS: EngineOptions = {
  extensions: [fs, web],
  source: (registry) => {
    const extensions = { ...DEFAULT_CONFIG.extensions, deny: ["memo"], config: { "vis.shell": { enabled: false } } };
    return withOffParts(registry, { config: { ...DEFAULT_CONFIG, extensions }, extensions: ALL });
  },
};

async function shown(blocks: readonly string[]) {
  await using engine = await startEngine([replyJson(blocks), DONE], OPTIONS);
  await engine.ask("x");
  const results = engine.events.flatMap((event) =>
    event.type === "block_finished"
      ? [event.result.error ? errorForModel(event.result.error) : event.result.preview]
      : []
  );
  return { results, prompt: engine.provider.requests[0]?.texts.join("\n") ?? "" };
}

Deno.test("the prompt has one line for inactive extensions, with the way to switch them on", async () => {
  const { prompt } = await shown(["1 + 1"]);
  const lines = prompt.split("\n").filter((line) => line.startsWith("Off; "));
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /shell \(vis config set shell\.enabled true\)/);
  assert.match(lines[0] ?? "", /memo \(remove memo from extensions\.deny/);
  assert.ok((lines[0] ?? "").length < 250);
  assert.ok(memo.namespace.length > 0);
});

Deno.test("the error for a function of an inactive extension explains how the user switches it on", async () => {
  const { results } = await shown(["await shell.run('ls')", "await doc(shell)", "await doc('memo.add')"]);
  assert.match(results[0] ?? "", /Cannot call shell\.run: shell is off; .*vis config set shell\.enabled true/);
  assert.match(results[1] ?? "", /Cannot describe shell: shell is off; .*vis config set shell\.enabled true/);
  assert.match(results[2] ?? "", /Cannot describe memo\.add: memo is off; .*extensions\.deny/);
});

Deno.test("doc() describes namespaces and the realm, and suggests the nearest name for an unknown one", async () => {
  const { results } = await shown([
    "await doc(fs)",
    "await doc(print)",
    "await doc(answer)",
    "await doc(vars)",
    "await doc(shape)",
    "await doc('fs.grpe')",
    "await doc(function prnt() {})",
    "await doc(fs.count)",
  ]);
  const wanted = [
    /Reads, searches and changes[^]*fs\.readFile/,
    /print\(\.\.\.values\): void/,
    /answer\(value/,
    /vars\(\): Promise/,
    /shape\(value\): string/,
    /Cannot describe fs\.grpe: .*the nearest are .*fs\.grep/,
    /Cannot describe prnt: .*the nearest are .*print/,
    /fs\.count\(pattern: string/,
  ];
  for (const [at, pattern] of wanted.entries()) assert.match(results[at] ?? "", pattern);
});
