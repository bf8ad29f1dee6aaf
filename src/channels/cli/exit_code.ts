import {
  BusyError,
  Cancelled,
  ConfigError,
  OutputError,
  ProviderError,
  StoreError,
  UsageError,
} from "../../domain/errors.ts";
import type { QueryResult } from "../../domain/query_result.ts";

/** 0 answer; 1 the query failed or ran out; 2 usage; 3 configuration, no provider or the database; 130 cancelled. */
export function exitCodeOf(result: QueryResult): number {
  if (result.status === "done") return 0;
  if (result.reason === "unstored") return 3;
  return result.reason === "cancelled" ? 130 : 1;
}

/** False where `answer` only says what went wrong: that belongs on stderr. A query that ran out has its best answer. */
export function hasAnswer({ reason }: QueryResult): boolean {
  return !WITHOUT_ANSWER.includes(reason);
}

const WITHOUT_ANSWER: readonly QueryResult["reason"][] = [
  "answer_schema",
  "unusable_replies",
  "provider",
  "configuration",
  "cancelled",
  "process_lost",
  "defect",
];

/** The exit code and the one sentence for an error that reached the channel; null for a defect. */
export function describeError(error: unknown): { readonly code: number; readonly message: string } | null {
  if (error instanceof UsageError) return { code: 2, message: error.message };
  if (error instanceof ConfigError) return { code: 3, message: error.message };
  if (error instanceof StoreError) return { code: 3, message: error.message };
  if (error instanceof ProviderError) return { code: 1, message: error.message };
  if (error instanceof Cancelled) return { code: 130, message: "Cancelled" };
  if (error instanceof BusyError || error instanceof OutputError) return { code: 1, message: error.message };
  return null;
}
