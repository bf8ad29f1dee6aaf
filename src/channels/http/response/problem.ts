import { type FaultKind, faultOf } from "../../../domain/query/fault_of.ts";

/** Titles of the kinds of problems; the kind is the last part of `type` in the problem details. */
const TITLES = {
  "bad-request": "The request is invalid",
  "unauthorized": "A valid bearer token is required",
  "forbidden": "The request comes from another origin",
  "insufficient-scope": "The token lacks the required scope",
  "not-found": "Not found",
  "method-not-allowed": "Method not allowed",
  "timeout": "The request took too long to arrive",
  "conflict": "The conversation is busy",
  "too-large": "The request is too large",
  "unsupported-media-type": "Unsupported content type",
  "key-reused": "The idempotency key was used for another request",
  "changed": "The resource has changed",
  "rate-limited": "Too many requests",
  "quota": "The quota of the token is exhausted",
  "misdirected": "The server does not answer to this host name",
  "provider": "The model is unavailable",
  "unavailable": "The server is unavailable",
  "defect": "Internal server error",
} as const;

const STATUS: Readonly<Record<ProblemKind, number>> = {
  "bad-request": 400,
  "unauthorized": 401,
  "forbidden": 403,
  "insufficient-scope": 403,
  "not-found": 404,
  "method-not-allowed": 405,
  "timeout": 408,
  "conflict": 409,
  "too-large": 413,
  "unsupported-media-type": 415,
  "key-reused": 422,
  "misdirected": 421,
  "changed": 412,
  "rate-limited": 429,
  "quota": 429,
  "provider": 502,
  "unavailable": 503,
  "defect": 500,
};

export type ProblemKind = keyof typeof TITLES;

/** A request that is answered with problem details (RFC 9457). `message` is for the caller and contains no secret. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: number;
  readonly kind: ProblemKind;
  constructor(
    detail: string,
    readonly facts: {
      readonly kind: ProblemKind;
      /** Overrides the default status of the kind. */
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Paths of invalid values in the body or the query string. */
      readonly errors?: readonly { readonly path: string; readonly message: string }[];
    },
  ) {
    super(detail);
    this.kind = facts.kind;
    this.status = facts.status ?? STATUS[facts.kind];
  }

  /** The problem details object of RFC 9457. */
  details(requestId: string): Readonly<Record<string, unknown>> {
    return {
      type: `urn:vis:problem:${this.kind}`,
      title: TITLES[this.kind],
      status: this.status,
      detail: this.message,
      instance: `urn:vis:request:${requestId}`,
      ...(this.facts.errors ? { errors: this.facts.errors } : {}),
    };
  }
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

/** The problem that an error is reported as; null for a defect. */
export function problemOf(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  const fault = faultOf(error);
  return fault && new Problem(fault.message, { kind: OF_FAULTS[fault.kind] });
}
