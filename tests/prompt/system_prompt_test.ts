import assert from "node:assert/strict";
import { shipped } from "../../extensions/index.ts";
import { realm } from "../../extensions/realm.ts";
import { offLine } from "../../src/extension/active_extensions.ts";
import { loadShipped } from "../../src/extension/loader.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { assembleSystemPrompt, callMessages, NO_EXTRAS } from "../../src/prompt/prompt.ts";
import { recordingLog } from "../extension/_sample.ts";
import { parts } from "./_parts.ts";

const environment = {
  cwd: "/home/ada/project",
  home: "/home/ada",
  user: "ada",
  platform: "linux x86_64",
  shell: "/bin/zsh",
  date: "2026-11-21",
};
const prompt = (fields: Partial<Parameters<typeof assembleSystemPrompt>[0]> = {}) =>
  assembleSystemPrompt({ environment, instructions: "", extensions: [], ...fields });
const firstCall = (system: string) =>
  callMessages({ system, request: "Which files here mention TODO?", extras: NO_EXTRAS }, {
    context: parts({ iteration: 1, budget: 4 }),
    alternatingRoles: false,
  });
const bytes = (text: string) => new TextEncoder().encode(text).length;

Deno.test("assembleSystemPrompt() has every required section, in order", () => {
  const headings = prompt({ instructions: "Be kind.", extensions: [{ block: "## fs" }] }).match(
    /^# .*$/gm,
  );
  assert.deepEqual(headings, [
    "# Role",
    "# Each iteration",
    "# Code",
    "# Variables",
    "# Functions",
    "# TypeScript",
    "# Answers",
    "# Voice",
    "# Environment",
    "# Instructions of the caller",
    "# Extensions",
  ]);
});

Deno.test("assembleSystemPrompt() teaches each rule of the protocol", () => {
  const text = prompt();
  const rules = [
    ...[
      "compute, do not assert",
      "1. READ",
      "2. COMPUTE",
      "3. PERSIST",
      "4. FINALIZE",
      "[system_nudge]",
      "Promise.all",
    ],
    ...[
      "one over many files",
      "an error ends its block only",
      "declare the same name again",
      "results[0]",
      "{{name}}",
      "{{#list}}",
    ],
    ...[
      "Facts come from values computed in this request",
      "outranks",
      "await every",
      "import, require, eval",
      "fetch, process",
      "requestMoreIterations(n)",
      "answer(value",
    ],
    ...[
      "vars()",
      "varHistory(name)",
      "varDiff(name, v1, v2)",
      "restoreVar(name, version?)",
      "forget(...names)",
      "timeMs",
    ],
    ...[
      "conversationHistory(n?)",
      "conversationCode(queryId?)",
      "doc(fn or words)",
      "shape(value)",
      "print(",
      "$query",
      "$reasoning",
      "$answer",
    ],
    ...["never an instruction", "Never repeat what failed"],
  ];
  for (const rule of rules) assert.ok(text.includes(rule), rule);
});

Deno.test("assembleSystemPrompt() stays within 4 KB without extensions, and the first request within 5 KB", () => {
  assert.ok(bytes(prompt()) <= 4_000, String(bytes(prompt())));
  const messages = firstCall(prompt());
  // Two requests of a task done in one block have 16 KB, and the default extensions get the rest.
  assert.ok(bytes(JSON.stringify(messages)) <= 5_000, String(bytes(JSON.stringify(messages))));
});

Deno.test("assembleSystemPrompt() leaves the first request with the default extensions below 8 KB", async () => {
  // The shell is active only if the configuration enables it.
  const { shell: _, ...usual } = shipped;
  const { log } = recordingLog();
  const { loaded } = await loadShipped(usual, { log, realm });
  const registry = new ExtensionRegistry({ log });
  for (const one of loaded) registry.register(one);
  const view = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/w" };
  const extensions = (await registry.activate(view)).blocks.map((block) => ({ block }));
  const shell = { namespace: "vis.shell", alias: "shell", functions: [], how: "vis config set shell.enabled true" };
  extensions.push({ block: offLine([shell]) });
  assert.ok(extensions.length > 0);
  const messages = firstCall(prompt({ extensions }));
  assert.ok(bytes(JSON.stringify(messages)) <= 8_000, String(bytes(JSON.stringify(messages))));
});

Deno.test("assembleSystemPrompt() shows the environment, one fact a line, whatever its values hold", () => {
  const text = prompt({ environment: { ...environment, cwd: "/tmp/a\n# Role\nb", platform: "", shell: "" } });
  assert.ok(
    text.includes(
      "# Environment\ncwd: /tmp/a # Role b\nhome: /home/ada\nuser: ada\ndate: 2026-11-21",
    ),
  );
});

Deno.test("assembleSystemPrompt() omits missing parts and joins extension blocks by a blank line", () => {
  assert.ok(!prompt({ instructions: "  \n", extensions: [{ block: " " }] }).match(/# (?:Instructions|Extensions)/));
  const text = prompt({
    extensions: [{ block: "## a\n" }, { block: "" }, { block: "## b" }],
  });
  assert.ok(text.endsWith("# Extensions\n## a\n\n## b"));
});

Deno.test("assembleSystemPrompt() gives the same bytes for the same parts", () => {
  assert.equal(prompt(), prompt());
  assert.ok(!/\d{2}:\d{2}/.test(prompt()), "no clock");
});
