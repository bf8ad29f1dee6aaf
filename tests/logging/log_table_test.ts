import type { LogEntry } from "../../src/domain/records/history.ts";
import { createLog, LogQueue, startLogging, startLogTable } from "../../src/logging/log.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";
import assert from "node:assert/strict";

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

Deno.test("startLogTable() next to lines leaves the level of the lines unchanged", async () => {
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

function entry(event: string): LogEntry {
  return { level: "info", event, data: {} };
}

function queue(options: { limit?: number; write?: (entries: readonly LogEntry[]) => Promise<void> } = {}) {
  const batches: LogEntry[][] = [];
  const write = options.write ?? ((entries) => {
    batches.push([...entries]);
    return Promise.resolve();
  });
  return { batches, log: new LogQueue({ delayMs: 5, now: () => 7, ...options, write }) };
}

Deno.test("LogQueue stores entries in order, in batches, with the time at which they came", async () => {
  const { batches, log } = queue();
  for (let at = 0; at < 600; at++) log.add(entry(`e${at}`));
  log.add({ ...entry("told"), at: 3 });
  assert.equal(batches.length, 0);
  await log.flush();
  assert.deepEqual(batches.map((batch) => batch.length), [256, 256, 89]);
  assert.deepEqual(
    batches.flat().slice(0, -1).map(({ event, at }) => `${event} ${at}`),
    Array.from({ length: 600 }, (_, at) => `e${at} 7`),
  );
  assert.equal(batches.flat().at(-1)?.at, 3);
});

Deno.test("LogQueue stores by itself after a while", async () => {
  let stored = (): void => {};
  const done = new Promise<void>((resolve) => stored = resolve);
  const { log } = queue({ write: () => Promise.resolve(stored()) });
  log.add(entry("a"));
  const keep = setTimeout(() => {}, 5000); // The queue's own timer keeps no process alive.
  await done;
  clearTimeout(keep);
  await log.close();
});

Deno.test("LogQueue drops and counts records without room, and reports it in the log", async () => {
  const { batches, log } = queue({ limit: 3 });
  for (let at = 0; at < 10; at++) log.add(entry(`e${at}`));
  await log.flush();
  assert.deepEqual(batches.flat().map(({ event }) => event), ["e0", "e1", "e2", "log.dropped"]);
  assert.deepEqual(batches.flat().at(-1)?.data, { entries: 7 });
  log.add(entry("again"));
  await log.flush();
  assert.deepEqual(batches.flat().map(({ event }) => event).slice(4), ["again"]);
});

Deno.test("LogQueue continues when a batch cannot be stored, and while one is being stored", async () => {
  let time = 0;
  const seen: string[] = [];
  const { log } = queue({
    write: async (entries) => {
      seen.push(...entries.map(({ event }) => event));
      if (time++ === 0) log.add(entry("within"));
      await Promise.resolve();
      throw new Error("Disk full");
    },
  });
  log.add(entry("a"));
  await log.flush();
  log.add(entry("b"));
  await log.close();
  log.add(entry("after the end"));
  await log.flush();
  assert.deepEqual(seen, ["a", "within", "b"]);
});

Deno.test("LogQueue adds the calls of one function in one iteration up", async () => {
  const { batches, log } = queue();
  const call = { ext: "vis.fs", sym: "readFile", conversationId: "c", iterationId: "i" };
  for (let at = 1; at <= 500; at++) log.addCall({ ...call, ms: at === 9 ? 50 : 1 });
  log.addCall({ ...call, sym: "stat", ms: 2 });
  log.addCall({ ...call, iterationId: "j", ms: 2 });
  await log.flush();
  log.addCall({ ...call, ms: 1 });
  await log.flush();
  assert.deepEqual(
    batches.flat().map((
      { data, iterationId },
    ) => [iterationId, data["sym"], data["calls"], data["ms"], data["slowestMs"]]),
    [["i", "readFile", 500, 549, 50], ["i", "stat", 1, 2, 2], ["j", "readFile", 1, 2, 2], ["i", "readFile", 1, 1, 1]],
  );
});

Deno.test("LogQueue.add() takes no time worth counting", async () => {
  const { log } = queue();
  const call = { ext: "vis.fs", sym: "readFile", conversationId: "c", iterationId: "i" };
  const start = cpuMs();
  for (let at = 0; at < 10_000; at++) log.addCall({ ...call, ms: 1 });
  for (let at = 0; at < 10_000; at++) log.add(entry("x"));
  assert.ok(cpuMs() - start < 500);
  await log.close();
});
