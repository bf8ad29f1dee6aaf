import assert from "node:assert/strict";
import { storedEvents } from "../../src/conversation/stored_events.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { type Extension, fn, z } from "../../src/extension/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";

Deno.test("storedEvents() has the host calls of each block, between its start and its end", async () => {
  const engine = await startEngine(
    [replyJson(["const kept = 7", "await varHistory('kept')"]), final("It is {{kept}}")],
    {
      workspace: "/work",
    },
  );
  try {
    const seen: QueryEvent[] = [];
    const { queryId } = await engine.conversations.ask({ channel: "test", workspace: "/work" }, "x", {
      signal: new AbortController().signal,
      emit: (event) => seen.push(event),
    });
    const query = await engine.conversations.records.query(queryId);
    assert.ok(query);
    const iterations = await engine.conversations.iterations(queryId);
    const events = storedEvents(query, iterations);
    const types = events.filter(({ iteration }) => iteration === 1).map(({ type }) => type);
    assert.deepEqual(types, [
      "block_started",
      "block_finished",
      "block_started",
      "host_call",
      "block_finished",
      "iteration_finished",
    ]);
    const startOf = (all: readonly QueryEvent[]) =>
      all.flatMap((event) => event.type === "started" ? [[event.request, event.model]] : []);
    assert.deepEqual(startOf(events), startOf(seen));
    const ended = (all: readonly QueryEvent[]) =>
      all.flatMap((event) =>
        event.type === "host_call" && event.phase === "end" ? [[event.block, event.name, event.ok]] : []
      );
    assert.deepEqual(ended(events), ended(seen));
  } finally {
    await engine.close();
  }
});

const PATH = "late.txt";
const DIFF = `--- /dev/null\n+++ b/${PATH}\n@@ -0,0 +1 @@\n+x\n`;

/** `late.write()` ends when a later block has called `late.end()`. */
function lateExtension(): Extension {
  const ending = Promise.withResolvers<void>(), written = Promise.withResolvers<void>();
  const options = { doc: "Writes.", args: z.tuple([]), returns: "unknown" } as const;
  return {
    namespace: "test.late",
    alias: { ns: "test.ext.late", alias: "late" },
    doc: "Writes late.",
    version: "0.1.0",
    symbols: [
      fn("write", async ({ changedFile }) => {
        await ending.promise;
        changedFile?.(DIFF);
        written.resolve();
      }, { ...options, action: { doing: "writing", done: "wrote", things: "files" } }),
      fn("end", async () => {
        ending.resolve();
        await written.promise;
      }, options),
    ],
  };
}

Deno.test("a call that its block did not await is stored and shown with its block, whichever step it ends in", async () => {
  const starts = "const writing = late.write(); 1", ends = "await late.end(); await writing; 2";
  for (const [steps, at] of [[[[starts], [ends]], [0, 1]], [[["0", starts, ends]], [0]]] as const) {
    const replies = [...steps.map((codes) => replyJson(codes)), final("It is done")];
    await using engine = await startEngine(replies, { extensions: [lateExtension()] });
    const seen: QueryEvent[] = [];
    const { queryId } = await engine.conversations.ask(engine.branch, "x", {
      signal: new AbortController().signal,
      emit: (event) => seen.push(event),
    });
    const query = await engine.conversations.records.query(queryId);
    const iterations = await engine.conversations.iterations(queryId);
    const block = at.length === 1 ? 1 : 0;
    const place = { iteration: 1, block };
    const ended = (events: readonly QueryEvent[]) =>
      events.flatMap((event) =>
        event.type === "host_call" && event.phase === "end" && event.name === "late.write"
          ? [{ iteration: event.iteration, block: event.block, diffs: event.diffs }]
          : []
      );
    assert.deepEqual(ended(seen), [{ ...place, diffs: [DIFF] }]);
    assert.deepEqual(ended(storedEvents(query ?? assert.fail(), iterations)), ended(seen));
    const calls = iterations[0]?.blocks[block]?.result.calls ?? [];
    assert.deepEqual(calls.map(({ name, ok }) => [name, ok]), [["late.write", true]]);
    assert.equal(calls[0]?.action?.done, "wrote");
    assert.deepEqual(iterations.map(({ metadata }) => metadata["diffs"]), [
      [{ block, diff: DIFF }],
      ...at.slice(1).map(() => undefined),
      undefined,
    ]);
  }
});
