import type { LogQueue } from "./log_queue.ts";

/** Of the log tables that are open. */
export const QUEUES = new Set<LogQueue>();
