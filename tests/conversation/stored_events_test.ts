import assert from "node:assert/strict";
import { storedEvents } from "../../src/conversation/stored_events.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
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
    const events = storedEvents(query, { iterations, model: "script" });
    const types = events.filter(({ iteration }) => iteration === 1).map(({ type }) => type);
    assert.deepEqual(types, [
      "block_started",
      "block_finished",
      "block_started",
      "host_call",
      "block_finished",
      "iteration_finished",
    ]);
    const ended = (all: readonly QueryEvent[]) =>
      all.flatMap((event) =>
        event.type === "host_call" && event.phase === "end" ? [[event.block, event.name, event.ok]] : []
      );
    assert.deepEqual(ended(events), ended(seen));
  } finally {
    await engine.close();
  }
});
