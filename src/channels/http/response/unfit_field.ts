import { Problem } from "./problem.ts";

/** The problem for a field with an invalid value. */
export function unfitField(path: string, message: string): Problem {
  return new Problem(message, { kind: "bad-request", errors: [{ path, message }] });
}
