import type { ChildAccess } from "../setup/child_access.ts";
import type { OutsideWork } from "./outside_work.ts";
import { realmFetch } from "./fetch.ts";
import { realmFiles } from "./files.ts";

/** The platform globals that active extensions asked for; none without a grant. */
export function grantedGlobals(work: OutsideWork, access: ChildAccess): Record<string, unknown> {
  return {
    ...(access.globals.includes("fetch") ? realmFetch(work) : {}),
    ...(access.globals.some((name) => name.startsWith("Deno.")) ? { Deno: realmFiles(work, access) } : {}),
  };
}
