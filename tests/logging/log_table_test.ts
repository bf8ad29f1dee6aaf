import assert from "node:assert/strict";
import type { LogEntry } from "../../src/domain/records/history.ts";
import { startLogTable } from "../../src/logging/log_table.ts";
import { createLog, startLogging } from "../../src/logging/log.ts";

function table() {
  const rows: LogEntry[] = [];
  const opened = startLogTable({
    now: () => 1,
    write: (entries) => {
      rows.push(...entries);
      return Promise.resolve();
    },
  });
  return { rows, opened };
}

Deno.test("startLogTable() keeps records from info on with their scope, until it is closed", async () => {
  const { rows, opened } = table();
  const log = createLog("part");
  log.debug("quiet");
  log.info("plain", { n: 1 });
  log.warn("scoped", { conversationId: "c", queryId: "q", iterationId: "i", why: "x" });
  log.error("odd scope", { queryId: 7 });
  await opened.close();
  log.error("late");
  assert.deepEqual(rows, [
    { level: "info", event: "plain", data: { category: "vis.part", n: 1 }, at: 1 },
    {
      level: "warn",
      event: "scoped",
      data: { category: "vis.part", why: "x" },
      conversationId: "c",
      queryId: "q",
      iterationId: "i",
      at: 1,
    },
    { level: "error", event: "odd scope", data: { category: "vis.part" }, at: 1 },
  ]);
});

Deno.test("startLogTable() has one row for the calls of a function, and one for each that failed", async () => {
  const { rows, opened } = table();
  const log = createLog("extension");
  const call = { ext: "vis.fs", sym: "stat", conversationId: "c" };
  for (let at = 0; at < 3; at++) {
    log.debug("extension.call", { ...call, phase: "start" });
    log.call?.({ ...call, ms: 2 });
  }
  log.warn("extension.call", { ...call, phase: "throw", ms: 1, error: "no" });
  await opened.close();
  assert.deepEqual(rows.map(({ level, data }) => [level, data["phase"], data["calls"], data["ms"]]), [
    ["info", "end", 3, 6],
    ["warn", "throw", undefined, 1],
  ]);
});

Deno.test("startLogTable() beside lines leaves these at their level", async () => {
  const lines: string[] = [];
  startLogging({ level: "error", write: (line) => void lines.push(line) });
  const { rows, opened } = table();
  const second = table();
  const log = createLog("part");
  log.info("one");
  log.error("two");
  await opened.close();
  log.info("three");
  log.error("four");
  await second.opened.close();
  log.error("five");
  assert.deepEqual(rows.map(({ event }) => event), ["one", "two"]);
  assert.deepEqual(second.rows.map(({ event }) => event), ["one", "two", "three", "four"]);
  assert.deepEqual(lines.map((line) => JSON.parse(line).event), ["two", "four", "five"]);
});
