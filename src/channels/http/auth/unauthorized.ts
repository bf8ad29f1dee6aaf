import { Problem } from "../response/problem.ts";

/** A request without a valid token (401). `isWrong`: it has one, which is not valid. */
export function unauthorized(detail: string, isWrong: boolean): Problem {
  const why = isWrong ? ', error="invalid_token"' : "";
  return new Problem(detail, { kind: "unauthorized", headers: { "www-authenticate": `Bearer realm="vis"${why}` } });
}
