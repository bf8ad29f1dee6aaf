import { UsageError } from "../domain/errors.ts";

/** Longest request in characters; longer text belongs in a file or the variable `context`. */
export const MAX_REQUEST_CHARS = 4_000_000;

/** Throws `UsageError` for an empty or oversized request. */
export function checkRequest(request: string): void {
  if (request.trim() === "") throw new UsageError("Cannot run an empty request: say what you want");
  if (request.length <= MAX_REQUEST_CHARS) return;
  throw new UsageError(`Cannot run a request of ${request.length} characters: the limit is ${MAX_REQUEST_CHARS}`);
}
