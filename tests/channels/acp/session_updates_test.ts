import assert from "node:assert/strict";
import { SessionUpdates } from "../../../src/channels/acp/session_updates.ts";
import { blockResult } from "../../../src/domain/query/host_call.ts";
import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";

const event = { seq: 1, at: 0, queryId: "q", iteration: 1 } as const;

Deno.test("an editor learns among the thoughts that a model call is repeated", () => {
  const updates = new SessionUpdates("/project");
  assert.deepEqual(updates.take({ ...event, type: "retrying", reason: "Cannot reach it", waitMs: 8_000, attempt: 3 }), {
    sessionUpdate: "agent_thought_chunk",
    content: { type: "text", text: "\n(retrying in 8 s (try 3): Cannot reach it)\n" },
  });
});

Deno.test("a block that changes files shows them as diffs with their places, and its work as its title", () => {
  const updates = new SessionUpdates("/project");
  const diff = "--- a/src/app.ts\n+++ b/src/app.ts\n@@ -10,3 +10,3 @@\n one\n-two\n+2\n three\n@@ -90 +90 @@\n-x\n+y\n";
  const made = "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,2 @@\n+# New\n+text\n";
  const action = { doing: "editing", done: "edited", things: "files", subject: "src/app.ts, new.md" };
  const call = { block: 0, name: "edit", action, ok: true };
  const events: readonly QueryEvent[] = [
    { ...event, type: "block_started", block: 0, code: "await fs.edit([])" },
    { ...event, type: "host_call", ...call, phase: "start" },
    { ...event, type: "host_call", ...call, phase: "end", diffs: [diff, made] },
    { ...event, type: "block_finished", block: 0, result: { ...blockResult({ ok: true }), preview: "done" } },
  ];
  const [begun, none, changed, ended] = events.map((one) => updates.take(one));
  assert.equal(none, null);
  assert.ok(begun?.sessionUpdate === "tool_call" && changed?.sessionUpdate === "tool_call_update");
  assert.equal(changed.toolCallId, begun.toolCallId);
  assert.deepEqual(changed.locations, [
    { path: "/project/src/app.ts", line: 10 },
    { path: "/project/src/app.ts", line: 90 },
    { path: "/project/new.md", line: 1 },
  ]);
  const diffs = [
    { type: "diff", path: "/project/src/app.ts", oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" },
    { type: "diff", path: "/project/src/app.ts", oldText: "x\n", newText: "y\n" },
    { type: "diff", path: "/project/new.md", oldText: null, newText: "# New\ntext\n" },
  ];
  assert.deepEqual(changed.content?.slice(1), diffs);
  assert.ok(ended?.sessionUpdate === "tool_call_update");
  assert.deepEqual([ended.status, ended.title, ended.content?.slice(1)], [
    "completed",
    "edited src/app.ts, new.md",
    diffs,
  ]);
});

Deno.test("a change of a call that ends after its block is added to the block, below its result", () => {
  const updates = new SessionUpdates("/project");
  const result = { ...blockResult({ ok: true }), preview: "started" };
  updates.take({ ...event, type: "block_started", block: 0, code: "work = fs.writeFile('a', 'x')" });
  const ended = updates.take({ ...event, type: "block_finished", block: 0, result });
  const diffs = ["--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"];
  const late = updates.take({
    ...event,
    type: "host_call",
    block: 0,
    name: "fs.writeFile",
    phase: "end",
    ok: true,
    diffs,
  });
  assert.ok(ended?.sessionUpdate === "tool_call_update" && late?.sessionUpdate === "tool_call_update");
  assert.equal(late.toolCallId, ended.toolCallId);
  assert.deepEqual(late.content, [
    ...ended.content ?? [],
    { type: "diff", path: "/project/a", oldText: null, newText: "x\n" },
  ]);
});
