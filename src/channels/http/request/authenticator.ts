import { createMiddleware } from "hono/factory";
import { clientAddress } from "../auth/client_address.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";
import { proxyList } from "../auth/proxy_list.ts";
import { RateLimiter } from "../auth/rate_limit.ts";
import { checkToken } from "../auth/token_check.ts";
import type { TokenGrant } from "../auth/token_grant.ts";
import type { Env } from "./env.ts";

/** Checks who may connect, and how often. */
export class Authenticator {
  readonly #proxies: ReturnType<typeof proxyList>;
  readonly #given: Pick<HttpParts, "tokens" | "now">;
  readonly #perAddress: RateLimiter;
  readonly #perToken: RateLimiter;
  readonly #wrongTokens: RateLimiter;

  constructor({ tokens, proxies, limits, now }: Pick<HttpParts, "tokens" | "proxies" | "limits" | "now">) {
    this.#proxies = proxyList(proxies);
    this.#given = { tokens, now };
    this.#perAddress = new RateLimiter(limits.perAddress, now);
    this.#perToken = new RateLimiter(limits.perToken, now);
    this.#wrongTokens = new RateLimiter(limits.wrongTokens, now);
  }

  /** The client's address, as known proxies report it. */
  address(headers: Headers, remote: string): string {
    return clientAddress(headers, { remote, proxies: this.#proxies });
  }

  /** Throws `Problem` (429) if an address sends too many requests. */
  limit(address: string): void {
    this.#perAddress.take(address, "address");
  }

  /** Throws `Problem`: 401 without a valid token, 429 for too many requests and for too many wrong tokens. A valid
   * token is served regardless of what others at the address have tried. */
  async authenticate(headers: Headers, address: string): Promise<TokenGrant> {
    const grant = await checkToken(headers.get("authorization"), this.#given).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 401 && headers.has("authorization")) {
        this.#wrongTokens.take(address, "address");
      }
      throw error;
    });
    this.#perToken.take(grant.name, "token");
    return grant;
  }
}

/** Sets `caller`. From then on nothing in the request reaches conversations that the caller may not see. */
export const authenticated = createMiddleware<Env>(async (c, next) => {
  const { authenticator, parts } = c.env;
  const caller = await authenticator.authenticate(c.req.raw.headers, c.var.address);
  c.set("caller", caller);
  c.env = { ...c.env, parts: { ...parts, conversations: parts.conversations.of(caller) } };
  await next();
});
