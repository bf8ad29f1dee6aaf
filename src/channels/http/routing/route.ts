import type { z } from "zod";
import type { Leaving } from "./client_leaving.ts";
import type { TokenGrant, TokenScope } from "../auth/token_grant.ts";

export type Method = "get" | "post" | "patch" | "delete";

/** The request as a handler receives it. */
export interface RouteCall<B = unknown, Q = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: B;
  /** The text that `body` was parsed from. */
  readonly bodyText: string;
  readonly query: Q;
  readonly headers: Headers;
  readonly requestId: string;
  /** The token of the request. */
  readonly caller: TokenGrant;
  /** Reports a client that leaves before the response. */
  readonly leaving: Leaving;
}

/** One response as OpenAPI describes it. */
export interface DescribedResponse {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Media types on offer, chosen by the client; JSON if omitted. */
  readonly types?: readonly string[];
  /** Also available as server-sent events. */
  readonly stream?: boolean;
}

/** A route with its description: requests are validated against the schemas that OpenAPI shows. */
export interface HttpRoute<B = unknown, Q = unknown> {
  readonly method: Method;
  /** Contains `{name}` for a parameter. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly tag: string;
  /** The scope that the token needs; by default read for GET, otherwise write. */
  readonly scope?: TokenScope;
  readonly body?: z.ZodType<B>;
  readonly query?: z.ZodType<Q>;
  /** Names of request headers and their effects. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, DescribedResponse>>;
  handle(call: RouteCall<B, Q>): Promise<Response> | Response;
}

/** Types the handler of a route by its schemas. */
export function route<B, Q>(given: HttpRoute<B, Q>): HttpRoute {
  return given;
}
