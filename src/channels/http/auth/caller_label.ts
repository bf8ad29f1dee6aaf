import type { TokenGrant } from "./token_grant.ts";

/** The label of a query: by which way, and with whose token. */
export function callerLabel(way: "http" | "openai", { name }: Pick<TokenGrant, "name">): string {
  return `${way}:${name}`;
}
