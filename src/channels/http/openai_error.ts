import { jsonResponse } from "./json_response.ts";
import type { Problem, ProblemKind } from "./problem.ts";

const TYPES: Partial<Record<ProblemKind, string>> = {
  unauthorized: "authentication_error",
  forbidden: "permission_error",
  conflict: "conflict_error",
  unavailable: "server_error",
  provider: "server_error",
  defect: "server_error",
};

/** The object that OpenAI's clients read errors from. */
export function openAiErrorBody(
  problem: Pick<Problem, "kind" | "message" | "facts">,
): { readonly error: Readonly<Record<string, unknown>> } {
  const { kind, message, facts } = problem;
  const param = facts.errors?.[0]?.path || null;
  const code = kind === "unauthorized" ? "invalid_api_key" : kind.replaceAll("-", "_");
  return { error: { message, type: TYPES[kind] ?? "invalid_request_error", param, code } };
}

export function openAiError(problem: Problem): Response {
  return jsonResponse(openAiErrorBody(problem), {
    status: problem.status,
    headers: {
      ...problem.facts.headers,
      // What was begun here is not to be begun again by a client of its own accord.
      ...(problem.status >= 500 || problem.status === 409 ? { "x-should-retry": "false" } : {}),
    },
  });
}
