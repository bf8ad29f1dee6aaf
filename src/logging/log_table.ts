import { configureSync, getConfig, type LogRecord } from "@logtape/logtape";
import type { LogEntry } from "../domain/records/log_entry.ts";
import { QUEUES } from "./_queues.ts";
import { LogQueue, type LogQueueOptions } from "./log_queue.ts";

export interface LogTable {
  /** Stores what is waiting and receives nothing further. Never rejects. */
  close(): Promise<void>;
}

/** Sends records at or above `info` to `write`, in batches, in addition to the lines of `startLogging`. A record's
 * `conversationId`, `queryId`, `iterationId` and `block` become its scope. */
export function startLogTable(options: LogQueueOptions): LogTable {
  const queue = new LogQueue(options);
  QUEUES.add(queue);
  const name = `table ${crypto.randomUUID()}`;
  const sink = (record: LogRecord): void => store(queue, record);
  const { sinks = {}, loggers = [], ...rest } = getConfig() ?? {};
  const others = loggers.filter(({ category }) => ![category].flat().includes("vis"));
  const lines = loggers.find(({ category }) => [category].flat().includes("vis"));
  const own = { category: ["vis"], lowestLevel: lowest(lines?.lowestLevel), sinks: [...lines?.sinks ?? [], name] };
  const meta = { category: ["logtape", "meta"], lowestLevel: "fatal" as const, sinks: [] };
  const rows = { ...sinks, [name]: sink };
  configureSync({ ...rest, sinks: rows, loggers: others.length > 0 ? [...others, own] : [meta, own], reset: true });
  return {
    close: async () => {
      QUEUES.delete(queue);
      const { sinks: left = {}, loggers: now = [], ...more } = getConfig() ?? {};
      const without = now.map((logger) => ({ ...logger, sinks: (logger.sinks ?? []).filter((one) => one !== name) }));
      const kept = Object.fromEntries(Object.entries(left).filter(([one]) => one !== name));
      configureSync({ ...more, sinks: kept, loggers: without, reset: true });
      await queue.close();
    },
  };
}

/** The lines may need a lower level than the table. */
function lowest<L extends string | null>(level: L | undefined): "debug" | "info" {
  return level === "debug" || level === "trace" ? "debug" : "info";
}

const LEVELS: Readonly<Record<LogRecord["level"], LogEntry["level"]>> = {
  trace: "trace",
  debug: "debug",
  info: "info",
  warning: "warn",
  error: "error",
  fatal: "fatal",
};

function store(queue: LogQueue, { level, category, rawMessage, properties }: LogRecord): void {
  if (level === "trace" || level === "debug") return;
  const event = typeof rawMessage === "string" ? rawMessage : rawMessage.join("");
  const { conversationId, queryId, iterationId, block, ...data } = properties;
  const scope = {
    ...(typeof conversationId === "string" ? { conversationId } : {}),
    ...(typeof queryId === "string" ? { queryId } : {}),
    ...(typeof iterationId === "string" ? { iterationId } : {}),
    ...(typeof block === "number" ? { block } : {}),
  };
  queue.add({ level: LEVELS[level], event, data: { category: category.join("."), ...data }, ...scope });
}
