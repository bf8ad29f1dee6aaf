import { uuidv7 } from "uuidv7";

export function newId(): string {
  return uuidv7();
}

export const DEFAULT_TENANT = "default";

export const TENANT_NAME = /^[A-Za-z0-9](?:[\w.@-]{0,62}\w)?$/;
export const TENANT_RULE =
  "must have 1 to 64 letters, digits and _ . @ -, begin with a letter or digit, and not end with . @ or -";

/** Names that differ only in case get different folders, because some file systems ignore case. */
export function tenantHome<H extends string | null | undefined>(home: H, tenant = DEFAULT_TENANT): H | string {
  if (typeof home !== "string" || tenant === DEFAULT_TENANT) return home;
  return `${home}/tenants/${tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`)}`;
}
