import type { OwnConnections } from "../../channels/http/connections.ts";
import type { PROC } from "../../processes/proc_files.ts";
import { runtimeSince } from "./runtime_since.ts";

/** The second file is missing without IPv6. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/** The connections of this process; null where the system has no table of them. Since 2.8 Deno does not abort the signal
 * of a request whose body arrived after its headers (`wait_raw_response_ready` of its `ext/http`). */
export function ownConnections(
  { os, version }: { readonly os: string; readonly version: string } = {
    os: Deno.build.os,
    version: Deno.version.deno,
  },
): OwnConnections | null {
  if (os !== "linux") return null;
  let proc: typeof PROC | null = null;
  return {
    read: async () => {
      const { PROC } = await import("../../processes/proc_files.ts");
      proc = PROC;
      return TABLES.map((path) => wholeOf(path, PROC)).join("\n");
    },
    end: (inodes) => proc?.endSockets(inodes),
    missesLeaving: runtimeSince("2.8.0", version),
  };
}

function wholeOf(path: string, files: { readWhole(path: string): string }): string {
  try {
    return files.readWhole(path);
  } catch {
    return "";
  }
}
