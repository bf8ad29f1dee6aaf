import { uuidv7 } from "uuidv7";

/** A new identifier: UUIDv7 as text, which sorts by time of creation. */
export function newId(): string {
  return uuidv7();
}

/** The tenant of everything that names no other one. */
export const DEFAULT_TENANT = "default";

export const TENANT_NAME = /^[A-Za-z0-9](?:[\w.@-]{0,62}\w)?$/;
export const TENANT_RULE = "must have 1 to 64 letters, digits and _ . @ -, and begin and end with a letter or digit";

/** The folder that extensions see as Vis's own in conversations of a tenant, which no other one shares. Names that
 * differ in case alone have folders of their own on every system. */
export function tenantHome<H extends string | null | undefined>(home: H, tenant = DEFAULT_TENANT): H | string {
  if (typeof home !== "string" || tenant === DEFAULT_TENANT) return home;
  return `${home}/tenants/${tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`)}`;
}
