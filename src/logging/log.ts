import { unrefTimer } from "../domain/kit/concurrency.ts";
import { LOG_LEVELS, type LogEntry } from "../domain/records/history.ts";

/** Log entries must not contain secrets, such as API keys and tokens, or texts of the user. */
export interface Log {
  debug(event: string, data?: Record<string, unknown>): void;
  info(event: string, data?: Record<string, unknown>): void;
  warn(event: string, data?: Record<string, unknown>): void;
  error(event: string, data?: Record<string, unknown>): void;
  /** A block may make hundreds of calls, so the log table counts the calls. */
  call?(call: FinishedCall): void;
}

export function createLog(name: string): Log {
  const category = `vis.${name}`;
  const emit = (level: LogEntry["level"]) => (event: string, data: Record<string, unknown> = {}): void => {
    for (const sink of SINKS) {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(sink.level)) continue;
      try {
        sink.write({ level, category, event, data });
      } catch { /* A failed record must not end the work that it describes. */ }
    }
  };
  return {
    debug: emit("debug"),
    info: emit("info"),
    warn: emit("warn"),
    error: emit("error"),
    call: (call) => SINKS.forEach((sink) => sink.call?.(call)),
  };
}

export function startLogging(
  { level, write }: { readonly level: LogEntry["level"]; readonly write: (line: string) => void },
): void {
  SINKS.add({
    level,
    write: ({ data, ...record }) => write(JSON.stringify({ time: Date.now(), ...record, ...data })),
  });
}

interface LogRecord extends Pick<LogEntry, "level" | "event"> {
  readonly category: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface LogSink {
  readonly level: LogEntry["level"];
  write(record: LogRecord): void;
  call?(call: FinishedCall): void;
}

const SINKS = new Set<LogSink>();

interface FinishedCall extends Pick<LogEntry, "conversationId" | "iterationId"> {
  readonly ext: string;
  readonly sym: string;
  readonly ms: number;
}

interface LogTable {
  close(): Promise<void>;
}

const TABLES = new Set<LogSink>();

/** While open, a table with `alone` pauses the tables that were open before. */
export function startLogTable({ alone = false, ...options }: LogQueueOptions & { readonly alone?: boolean }): LogTable {
  const queue = new LogQueue(options);
  const sink: LogSink = {
    level: "info",
    write: (record) => store(queue, record),
    call: (call) => queue.addCall(call),
  };
  const others = alone ? [...TABLES].filter((table) => SINKS.delete(table)) : [];
  TABLES.add(sink);
  SINKS.add(sink);
  return {
    close: async () => {
      SINKS.delete(sink);
      TABLES.delete(sink);
      for (const table of others) if (TABLES.has(table)) SINKS.add(table);
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

interface LogQueueOptions {
  readonly write: (entries: readonly LogEntry[]) => Promise<void>;
  readonly limit?: number;
  readonly delayMs?: number;
  readonly now?: () => number;
}

interface Calls {
  calls: number;
  ms: number;
  slowestMs: number;
}

const BATCH = 256;

export class LogQueue {
  readonly #options: Required<LogQueueOptions>;
  readonly #waiting: LogEntry[] = [];
  readonly #calls = new Map<string, Calls>();
  #dropped = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #writing: Promise<void> | null = null;
  #closed = false;

  constructor({ write, limit = 2048, delayMs = 250, now = Date.now }: LogQueueOptions) {
    this.#options = { write, limit, delayMs, now };
  }

  add(entry: LogEntry): void {
    if (this.#closed) return;
    if (this.#waiting.length >= this.#options.limit) {
      this.#dropped++;
      return;
    }
    this.#waiting.push({ at: this.#options.now(), ...entry });
    this.#schedule();
  }

  addCall({ ext, sym, ms, ...scope }: FinishedCall): void {
    const key = `${scope.iterationId} ${scope.conversationId} ${ext} ${sym}`;
    const known = this.#calls.get(key);
    if (known) {
      known.calls++;
      known.ms = rounded(known.ms + ms);
      known.slowestMs = Math.max(known.slowestMs, ms);
      return;
    }
    const data = { ext, sym, phase: "end", calls: 1, ms, slowestMs: ms };
    if (this.#waiting.length < this.#options.limit) this.#calls.set(key, data);
    this.add({ level: "info", event: "extension.call", data, ...scope });
  }

  async flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#writing !== null || this.#waiting.length > 0) await (this.#writing ??= this.#drain());
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  #schedule(): void {
    if (this.#timer !== null || this.#writing !== null) return;
    this.#timer = setTimeout(() => void this.flush(), this.#options.delayMs);
    // The timer does not keep the program running, because an orderly exit closes the queue.
    unrefTimer(this.#timer);
  }

  async #drain(): Promise<void> {
    this.#calls.clear();
    const batch = this.#waiting.splice(0, BATCH);
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) {
      batch.push({ level: "warn", event: "log.dropped", data: { entries: dropped }, at: this.#options.now() });
    }
    await this.#options.write(batch).catch(() => undefined);
    this.#writing = null;
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
