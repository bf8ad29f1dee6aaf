import assert from "node:assert/strict";
import { join } from "node:path";
import fs from "../../../extensions/fs/mod.ts";
import { FsPlaces } from "../../../extensions/fs/fs_places.ts";
import { UNDO_ARGUMENTS, undoCli } from "../../../extensions/fs/undo_cli.ts";
import { userHooks } from "../../../src/app/session/user_hooks.ts";
import type { Config } from "../../../src/config/schema.ts";
import type { ConversationParts } from "../../../src/conversation/conversations.ts";
import { NO_USAGE } from "../../../src/domain/query/model_call.ts";
import { Emitter } from "../../../src/domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../../src/domain/query/query_schemas.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import type { Spawned, SpawnOptions } from "../../../src/extension/spawn_types.ts";
import { startEngine } from "../../helpers/engine.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const RESULT: QueryResult = {
  ...{ status: "done", reason: "answered", answer: "It is done", answerType: "text", confidence: "high", queryId: "q" },
  ...{ conversationId: "c", iterations: 1, usage: NO_USAGE, costUsd: null, ms: 1, notes: ["before"] },
};
const NO_HOOKS: Config["hooks"] = { request: [], edit: [], end: [], network: false };
const diffOf = (path: string): string => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

interface Ran {
  readonly command: string;
  readonly given: { readonly event: string; readonly files: readonly string[] };
  readonly options: SpawnOptions;
}

async function query(
  hooks: Partial<Config["hooks"]>,
  { changes = [], more = [], ends = () => ({}) }: {
    readonly changes?: readonly string[];
    readonly more?: readonly string[];
    readonly ends?: (command: string) => Partial<Spawned>;
  } = {},
) {
  const ran: Ran[] = [];
  const seen: QueryEvent[] = [];
  let told: readonly string[] = [];
  const around = userHooks({
    hooksIn: () => ({ ...NO_HOOKS, ...hooks }),
    spawn: (workspace, [, , command = ""], options) => {
      assert.equal(workspace, "/work", "the workspace of the conversation");
      ran.push({ command, given: JSON.parse(String(options.input)), options });
      const ended = { code: 0, signal: null, stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false };
      return Promise.resolve({ ...ended, ...ends(command) } as Spawned);
    },
  });
  const result = await around({ workspace: "/work" }, (event) => void seen.push(event), async (emit, between) => {
    const emitter = new Emitter(emit, { queryId: "q", now: () => 0 });
    emitter.send({ type: "started", conversationId: "c", request: "Do it", model: "m" });
    const change = (path: string): void => {
      const call = { block: 0, name: "fs.edit", phase: "end", ok: true } as const;
      emitter.send({ type: "host_call", ...call, diffs: [diffOf(path)] });
    };
    changes.forEach(change);
    for (const [at, path] of more.entries()) {
      await until(() => ran.length > at);
      change(path);
    }
    told = await between?.(new AbortController().signal) ?? [];
    return RESULT;
  }, () => null);
  return { ran, seen, result, told };
}

Deno.test("hooks run in the order of the events, with their facts on stdin and in variables", async () => {
  const hooks = { request: ["log"], edit: ["format", "lint"], end: ["notify"] };
  const { ran, seen, result } = await query(hooks, { changes: ["a.ts", "b.ts", "a.ts"] });
  assert.deepEqual(ran.map(({ command }) => command), ["log", "format", "lint", "notify"]);
  assert.deepEqual(ran[0]?.given, {
    ...{ event: "request", conversation: "c", query: "q", request: "Do it", workspace: "/work", files: [] },
  });
  assert.deepEqual(ran[1]?.given.files, ["a.ts", "b.ts"], "changes meanwhile are one run");
  assert.deepEqual(ran[1]?.options.env, { VIS_EVENT: "edit", VIS_FILES: "a.ts\nb.ts" });
  assert.deepEqual([ran[1]?.options.network, ran[1]?.options.timeoutMs], [false, 60_000]);
  const { files: _, ...end } = ran[3]?.given ?? {};
  assert.deepEqual(end, {
    ...{ event: "end", conversation: "c", query: "q", request: "Do it", workspace: "/work" },
    ...{ status: "done", reason: "answered", answer: "It is done" },
  });
  assert.equal(seen.length, 4, "events reach the channel");
  assert.deepEqual(result, RESULT);
});

Deno.test("a hook that fails or cannot start is a note for the user, and the next one runs", async () => {
  const { ran, result } = await query({ end: ["bad", "worse", "good"] }, {
    ends: (command) => {
      if (command === "worse") throw new Error("Cannot run commands: no wall");
      return command === "bad" ? { code: 3, stderr: "no such formatter\n" } : {};
    },
  });
  assert.deepEqual(ran.map(({ command }) => command), ["bad", "worse", "good"]);
  assert.deepEqual(result.notes, [
    "before",
    "Hook bad ended with exit code 3: no such formatter",
    "Hook worse failed: Cannot run commands: no wall",
  ]);
});

Deno.test("no hook for changes runs without changes", async () => {
  assert.deepEqual((await query({ edit: ["format"] })).ran, []);
});

Deno.test("the model and the user read the end of the output of commands for changed files, failed ones first", async () => {
  const lines = Array.from({ length: 400 }, (_, at) => `line ${at}`).join("\n");
  const { told, result } = await query({ edit: ["format", "test", "slow", "quiet"] }, {
    changes: ["a.ts"],
    ends: (command) => {
      if (command === "format") return { stdout: "\x1b[32mformatted a.ts\x1b[0m\n" };
      if (command === "test") return { code: 1, stdout: `${lines}\n1 failed\n`, stderr: "warning\n" };
      return command === "slow" ? { code: 143, timedOut: true } : {};
    },
  });
  assert.equal(told.length, 3);
  assert.equal(told[0], "Hook format printed: formatted a.ts");
  assert.match(told[1] ?? "", /^Hook test ended with exit code 1: … .*line 399\n1 failed\nwarning$/s);
  assert.equal(told[2], "Hook slow took longer than 60 s, the limit");
  assert.ok((told[1]?.length ?? 0) < 1_100);
  assert.deepEqual(result.notes.slice(1).map((note) => note.slice(0, 15)), told.map((note) => note.slice(0, 15)));
});

Deno.test("the notes have the output of each run of a command since the last model call", async () => {
  let runs = 0;
  const { told, result } = await query({ edit: ["lint"] }, {
    ...{ changes: ["a.ts"], more: ["b.ts", "c.ts"] },
    ends: () => ({ stdout: ["warn: a.ts\n", "warn: b.ts\n", "warn: b.ts\n"][runs++] ?? "" }),
  });
  assert.deepEqual([runs, told], [3, ["Hook lint printed: warn: a.ts\nwarn: b.ts"]]);
  assert.deepEqual(result.notes.slice(1), told);
});

Deno.test("the next model call waits for the commands for changed files and shows their output", async () => {
  const { promise: edited, resolve: edit } = Promise.withResolvers<void>();
  let asked = 0;
  const around: NonNullable<ConversationParts["around"]> = (_branch, emit, run) =>
    run(emit, async () => {
      if (++asked === 1) return [];
      await edited;
      return ["Hook test ended with exit code 1: 2 failed"];
    });
  await using engine = await startEngine([replyJson("1"), final("It is 1")], { around });
  const done = engine.ask("Do it");
  await until(() => asked === 2);
  assert.equal(engine.provider.requests.length, 1);
  edit();
  await done;
  assert.match(engine.context(1), /Hook test ended with exit code 1: 2 failed/);
  assert.doesNotMatch(engine.context(0), /Hook test/);
});

Deno.test("an undo also reverts the changes of hooks", async () => {
  await withFolder(async (folder) => {
    const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
    const [file, made, log] = [join(workspace, "a.txt"), join(workspace, "made.txt"), join(workspace, "log.txt")];
    const text = (): string => Deno.readTextFileSync(file);
    await Deno.mkdir(workspace);
    await Deno.writeTextFile(file, "one\ntwo\n");
    const registry = new ExtensionRegistry({ log: { debug() {}, info() {}, warn() {}, error() {} }, home });
    registry.register(fs);
    const around = userHooks({
      hooksIn: () => ({ ...NO_HOOKS, request: ["log"], edit: ["format"], end: ["log", "check"] }),
      spawn: (_workspace, [, , command]) => {
        if (command === "log") Deno.writeTextFileSync(log, "line\n", { append: true });
        else if (command === "check") Deno.writeTextFileSync(file, text().replace(/\n*$/, "\n"));
        else {
          Deno.writeTextFileSync(file, text().toUpperCase());
          Deno.writeTextFileSync(made, "generated\n");
        }
        const ended = { code: 0, signal: null, stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false };
        return Promise.resolve(ended as Spawned);
      },
    });
    await using engine = await startEngine([
      replyJson('await fs.readFile("a.txt"); await fs.edit("a.txt", { old: "two", new: "2\\nthree\\n\\n" })'),
      replyJson('await fs.edit("a.txt", { old: "THREE", new: "four" })'),
      replyJson("await fs.undo()"),
      final("It is changed"),
      final("It is a question"),
    ], { source: () => registry, workspace, around });
    const { notes, work } = await engine.ask("Change it");
    assert.match(engine.context(1), /^<changed> .*a\.txt \+5 −2/m, "the counts include the changes of the hook");
    assert.match(notes[0] ?? "", /^2 files changed /);
    assert.equal(work?.files, 2);
    assert.equal(text(), "ONE\n2\nTHREE\n", "fs.undo() reverted the second edit with its formatting");
    await engine.ask("And now?");
    const undo = async (options: object) => {
      let told = "";
      const place = { workspace, home, places: new FsPlaces(), print: (part: string) => void (told += part) };
      await undoCli(UNDO_ARGUMENTS.parse(options), place);
      return JSON.parse(told);
    };
    const { kept } = await undo({});
    assert.deepEqual(kept, []);
    assert.equal(text(), "one\ntwo\n");
    assert.deepEqual([...Deno.readDirSync(workspace)].map(({ name }) => name).sort(), ["a.txt", "log.txt"]);
    assert.equal(Deno.readTextFileSync(log), "line\n".repeat(4));
  });
});
