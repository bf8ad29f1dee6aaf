import type { OwnConnections } from "../../channels/http/routing/idle_connections.ts";
import type { PROC } from "../../processes/proc_files.ts";
import { readTables } from "./connection_table.ts";

/** The connections of this process, for a server that ends those that ask nothing; null where the system has no such
 * table, or no way to end one. */
export function ownConnections(
  { os, arch }: { readonly os: string; readonly arch: string } = Deno.build,
): OwnConnections | null {
  if (os !== "linux" || arch !== "x86_64") return null;
  let proc: typeof PROC | null = null;
  return {
    read: async () => {
      proc = (await import("../../processes/proc_files.ts")).PROC;
      return await readTables();
    },
    end: (inodes) => proc?.endSockets(inodes),
  };
}
