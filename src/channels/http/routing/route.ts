import type { z } from "zod";
import type { Leaving } from "./client_leaving.ts";
import type { TokenGrant, TokenScope } from "../auth/token_grant.ts";

export type Method = "get" | "post" | "patch" | "delete";

/** What a handler gets of a request. */
export interface RouteCall<B = unknown, Q = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: B;
  /** The text that `body` was read from. */
  readonly bodyText: string;
  readonly query: Q;
  readonly headers: Headers;
  readonly requestId: string;
  /** Whose token came with it. */
  readonly caller: TokenGrant;
  /** Tells when the client has gone before the response. */
  readonly leaving: Leaving;
}

/** One answer as OpenAPI describes it. */
export interface DescribedResponse {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Media types in which it is given, one after the caller's choice; JSON where left out. */
  readonly types?: readonly string[];
  /** Also given as server-sent events. */
  readonly stream?: boolean;
}

/** A route with its description: what is checked of a request is what OpenAPI says. */
export interface HttpRoute<B = unknown, Q = unknown> {
  readonly method: Method;
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly operation: string;
  readonly summary: string;
  readonly tag: string;
  /** What the token must be for; reading where the method is GET, else writing. */
  readonly scope?: TokenScope;
  readonly body?: z.ZodType<B>;
  readonly query?: z.ZodType<Q>;
  /** Names of request headers to what they do. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, DescribedResponse>>;
  handle(call: RouteCall<B, Q>): Promise<Response> | Response;
}

/** A route whose handler is typed by its schemas. */
export function route<B, Q>(given: HttpRoute<B, Q>): HttpRoute {
  return given;
}
