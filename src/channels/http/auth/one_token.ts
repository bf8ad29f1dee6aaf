import { createHash } from "node:crypto";
import { DEFAULT_TENANT } from "../../../domain/kit/ids.ts";
import type { Quota, TokenSource } from "./token_grant.ts";

/** The single token of a server without a list of tokens. It has every scope. */
export function oneToken(token: string, quota: Quota): TokenSource {
  const digest = createHash("sha256").update(token).digest();
  const grants = [{
    name: "server",
    digest,
    scope: "admin" as const,
    tenant: DEFAULT_TENANT,
    all: true,
    expiresAt: null,
    quota,
  }];
  return { grants: () => Promise.resolve(grants) };
}
