import { messageOf } from "../domain/errors.ts";
import { parseNetGrant, REALM_GLOBALS } from "../domain/grants.ts";
import type { Extension } from "./spec.ts";

const KINDS = ["net", "read", "write", "env"] as const;
const VARIABLE = /^[A-Za-z_]\w*$/;

/** Returns what is wrong with `globals` and `allow`, or null. Each global needs its grant, and a grant without a global
 * has no effect. */
export function grantFault({ globals = [], allow = {} }: Extension): string | null {
  for (const name of globals) {
    const kind = Object.hasOwn(REALM_GLOBALS, name) ? REALM_GLOBALS[name] : undefined;
    if (!kind) return `globals.${name} is unknown; there are ${Object.keys(REALM_GLOBALS).join(", ")}`;
    if (!allow[kind]?.length) return `globals.${name} needs allow.${kind}, which grants nothing`;
  }
  for (const kind of KINDS) {
    if (!allow[kind]?.length) continue;
    const users = Object.keys(REALM_GLOBALS).filter((name) => REALM_GLOBALS[name] === kind);
    if (!users.some((name) => globals.includes(name))) {
      return `allow.${kind} opens nothing without one of globals: ${users.join(", ")}`;
    }
  }
  const variable = allow.env?.find((name) => !VARIABLE.test(name));
  if (variable !== undefined) return `allow.env.${variable} is not the name of a variable`;
  return allow.net?.map(netFault).find((fault) => fault !== null) ?? null;
}

function netFault(text: string): string | null {
  try {
    parseNetGrant(text);
    return null;
  } catch (error) {
    return `allow.net is wrong (${messageOf(error)})`;
  }
}
