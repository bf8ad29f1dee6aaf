import { createMiddleware } from "hono/factory";
import { addressReader } from "../auth/client_address.ts";
import { rateLimiter } from "../auth/rate_limit.ts";
import { checkToken } from "../auth/token_check.ts";
import { Problem } from "../response/problem.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { Env } from "./env.ts";
import { guard, type GuardOptions } from "./guard.ts";

type Handler = ReturnType<typeof createMiddleware<Env>>;

/** Who may connect, and how often. */
export function admission(
  { tokens, proxies, limits, now }: Pick<HttpParts, "tokens" | "proxies" | "limits" | "now">,
  hosts: GuardOptions["hosts"],
): { readonly admitted: Handler; readonly authenticated: Handler } {
  const addressOf = addressReader(proxies);
  const perAddress = rateLimiter(limits.perAddress, { what: "address", now });
  const perToken = rateLimiter(limits.perToken, { what: "token", now });
  const wrongTokens = rateLimiter(limits.wrongTokens, { what: "address", now });
  return {
    /** Sets `address`, and refuses what must not be served before any route sees it. */
    admitted: createMiddleware<Env>(async (c, next) => {
      const address = addressOf(c.req.raw.headers, c.env.remote);
      c.set("address", address);
      guard(c.req.raw, { limits, hosts });
      perAddress(address);
      await next();
    }),
    /** Sets `caller`. From then on nothing in the request reaches conversations that the caller may not see. A valid
     * token is served regardless of what others at the address have tried. */
    authenticated: createMiddleware<Env>(async (c, next) => {
      const given = c.req.header("authorization");
      const caller = await checkToken(given ?? null, { tokens, now }).catch((error: unknown) => {
        const isWrong = given !== undefined && error instanceof Problem && error.status === 401;
        if (isWrong) wrongTokens(c.var.address);
        throw error;
      });
      perToken(caller.name);
      c.set("caller", caller);
      const { parts } = c.env;
      c.env = { ...c.env, parts: { ...parts, conversations: parts.conversations.of(caller) } };
      await next();
    }),
  };
}
