import { DEFAULT_TENANT } from "./tenant.ts";

/** The folder that extensions see as Vis's own in conversations of a tenant, which no other one shares. Names that
 * differ in case alone have folders of their own on every system. */
export function tenantHome<H extends string | null | undefined>(home: H, tenant = DEFAULT_TENANT): H | string {
  if (typeof home !== "string" || tenant === DEFAULT_TENANT) return home;
  return `${home}/tenants/${tenant.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`)}`;
}
