import { Problem } from "../response/problem.ts";
import type { TokenGrant, TokenScope } from "../auth/token_grant.ts";

const RANK: Readonly<Record<TokenScope, number>> = { read: 0, write: 1, admin: 2 };

/** Throws `Problem` (403) if the token lacks the scope. */
export function requireScope(scope: TokenScope, { scope: has }: Pick<TokenGrant, "scope">): void {
  if (RANK[has] >= RANK[scope]) return;
  throw new Problem(`Cannot do this with a token of scope ${has}: scope ${scope} is required`, {
    kind: "insufficient-scope",
    headers: { "www-authenticate": `Bearer realm="vis", error="insufficient_scope", scope="${scope}"` },
  });
}
