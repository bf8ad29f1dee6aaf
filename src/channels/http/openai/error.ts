import { hasAnswer, type QueryReason, shownAnswer } from "../../../domain/query/outcomes.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { Problem, type ProblemKind } from "../problem.ts";

const TYPES: Partial<Record<ProblemKind, string>> = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  "insufficient-scope": "permission_error",
  "rate-limited": "requests",
  quota: "insufficient_quota",
  conflict: "conflict_error",
  unavailable: "server_error",
  provider: "server_error",
  defect: "server_error",
};

/** Codes for which OpenAI has its own name. */
const CODES: Partial<Record<ProblemKind, string>> = {
  unauthorized: "invalid_api_key",
  "rate-limited": "rate_limit_exceeded",
  quota: "insufficient_quota",
};

/** Ends whose cause may pass, so that the same request may succeed later. */
const PASSING: Partial<Record<QueryReason, ProblemKind>> = {
  configuration: "unavailable",
  process_lost: "unavailable",
  unstored: "unavailable",
  defect: "defect",
};

type Ended = Pick<QueryResult, "reason" | "answer" | "notes" | "noAnswer" | "temporary">;

/** The problem to report for a query without an answer, or with one that is not stored; null otherwise. Clients repeat
 * a request by themselves after 5xx, and with it the whole query: an end that would be the same again is 400.
 * `closing`: the server shuts down. */
export function openAiFailure(result: Ended, { closing = false }: { readonly closing?: boolean } = {}): Problem | null {
  const { reason, temporary = false } = result;
  if (hasAnswer(result) && reason !== "unstored") return null;
  const passing = temporary ? "provider" : closing && reason === "cancelled" ? "unavailable" : PASSING[reason];
  return new Problem(shownAnswer(result), passing ? { kind: passing } : { kind: "no-answer", code: reason });
}

/** The error object in OpenAI's format. */
export function openAiErrorBody(
  problem: Pick<Problem, "kind" | "message" | "facts">,
): { readonly error: Readonly<Record<string, unknown>> } {
  const { kind, message, facts } = problem;
  const param = facts.errors?.[0]?.path || null;
  const code = kind === "not-found" && param === "model"
    ? "model_not_found"
    : facts.code ?? CODES[kind] ?? kind.replaceAll("-", "_");
  return { error: { message, type: TYPES[kind] ?? "invalid_request_error", param, code } };
}

/** Headers that keep clients from retrying by themselves a request that has already begun here. */
export function openAiHeaders({ kind, status }: Problem): Readonly<Record<string, string>> {
  return status >= 500 || status === 409 || kind === "quota" ? { "x-should-retry": "false" } : {};
}
