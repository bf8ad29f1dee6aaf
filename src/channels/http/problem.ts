import { type FaultKind, faultOf } from "../../domain/errors.ts";

const KINDS = {
  "bad-request": [400, "The request is invalid"],
  "no-answer": [400, "The request ended without an answer"],
  unauthorized: [401, "A valid bearer token is required"],
  forbidden: [403, "The request comes from another origin"],
  "insufficient-scope": [403, "The token lacks the required scope"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  timeout: [408, "The request took too long to arrive"],
  conflict: [409, "The conversation is busy"],
  "too-large": [413, "The request is too large"],
  "unsupported-media-type": [415, "Unsupported content type"],
  "key-reused": [422, "The idempotency key was used for another request"],
  changed: [412, "The resource has changed"],
  "rate-limited": [429, "Too many requests"],
  quota: [429, "The quota of the token is exhausted"],
  misdirected: [421, "The server does not answer to this host name"],
  provider: [502, "The model is unavailable"],
  unavailable: [503, "The server is unavailable"],
  defect: [500, "Internal server error"],
} as const;

export type ProblemKind = keyof typeof KINDS;

/** The server sends this error as problem details (RFC 9457). The client reads `message`, which must not contain a
 * secret. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly kind: ProblemKind;
  constructor(
    detail: string,
    readonly facts: {
      readonly kind: ProblemKind;
      readonly status?: number;
      readonly code?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly errors?: readonly { readonly path: string; readonly message: string }[];
    },
  ) {
    super(detail);
    this.kind = facts.kind;
    this.status = facts.status ?? KINDS[facts.kind][0];
  }

  details(requestId: string): Readonly<Record<string, unknown>> {
    return {
      type: `urn:vis:problem:${this.kind}`,
      title: KINDS[this.kind][1],
      status: this.status,
      detail: this.message,
      instance: `urn:vis:request:${requestId}`,
      ...(this.facts.errors ? { errors: this.facts.errors } : {}),
    };
  }
}

export function unfitField(path: string, message: string): Problem {
  return new Problem(message, { kind: "bad-request", errors: [{ path, message }] });
}

export function unauthorized(detail: string, isWrong: boolean): Problem {
  const why = isWrong ? ', error="invalid_token"' : "";
  return new Problem(detail, { kind: "unauthorized", headers: { "www-authenticate": `Bearer realm="vis"${why}` } });
}

const OF_FAULTS: Readonly<Record<FaultKind, ProblemKind>> = {
  usage: "bad-request",
  busy: "conflict",
  provider: "provider",
  config: "unavailable",
  store: "unavailable",
  cancelled: "unavailable",
  output: "unavailable",
};

export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  const fault = faultOf(error);
  return fault && new Problem(fault.message, { kind: OF_FAULTS[fault.kind] });
}
