import { Problem } from "./problem.ts";

/** The problem of a field whose value cannot be used. */
export function unfitField(path: string, message: string): Problem {
  return new Problem(message, { kind: "bad-request", errors: [{ path, message }] });
}
