import type { TokenGrant } from "./token_grant.ts";

/** The label of a query: the API it came through and the name of the token. */
export function callerLabel(way: "http" | "openai", { name }: Pick<TokenGrant, "name">): string {
  return `${way}:${name}`;
}
