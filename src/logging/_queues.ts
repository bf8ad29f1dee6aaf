import type { LogQueue } from "./log_queue.ts";

/** The queues of the log tables that are open. */
export const QUEUES = new Set<LogQueue>();
