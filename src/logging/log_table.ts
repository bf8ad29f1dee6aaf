import { type LogRecord, type LogSink, SINKS } from "./_sinks.ts";
import { LogQueue, type LogQueueOptions } from "./log_queue.ts";

export interface LogTable {
  /** Stores what is waiting and receives nothing further. Never rejects. */
  close(): Promise<void>;
}

/** Sends records at or above `info` to `write`, in batches, in addition to the lines of `startLogging`. A record's
 * `conversationId`, `queryId`, `iterationId` and `block` become its scope. */
export function startLogTable(options: LogQueueOptions): LogTable {
  const queue = new LogQueue(options);
  const sink: LogSink = {
    level: "info",
    write: (record) => store(queue, record),
    call: (call) => queue.addCall(call),
  };
  SINKS.add(sink);
  return {
    close: async () => {
      SINKS.delete(sink);
      await queue.close();
    },
  };
}

function store(queue: LogQueue, { level, category, event, data: all }: LogRecord): void {
  const { conversationId, queryId, iterationId, block, ...data } = all;
  const scope = {
    ...(typeof conversationId === "string" ? { conversationId } : {}),
    ...(typeof queryId === "string" ? { queryId } : {}),
    ...(typeof iterationId === "string" ? { iterationId } : {}),
    ...(typeof block === "number" ? { block } : {}),
  };
  queue.add({ level, event, data: { category, ...data }, ...scope });
}
