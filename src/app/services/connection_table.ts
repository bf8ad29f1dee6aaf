/** The second file is missing without IPv6. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/** The kernel's table of TCP connections, for a server that must look there whether its clients are still connected;
 * null if it is not needed or not available. Since 2.8 Deno does not abort the signal of a request whose body arrived
 * after its headers (`wait_raw_response_ready` of its `ext/http`); on systems without the table such clients are not
 * detected. */
export function connectionTable(
  { os, version }: { readonly os: string; readonly version: string } = {
    os: Deno.build.os,
    version: Deno.version.deno,
  },
): (() => Promise<string>) | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNeeded = major > 2 || (major === 2 && minor >= 8);
  return os === "linux" && isNeeded ? readTables : null;
}

/** The kernel's tables of TCP connections, one after the other. */
export async function readTables(): Promise<string> {
  const { PROC } = await import("../../processes/proc_files.ts");
  return TABLES.map((path) => wholeOf(PROC, path)).join("\n");
}

function wholeOf(files: { readWhole(path: string): string }, path: string): string {
  try {
    return files.readWhole(path);
  } catch {
    return "";
  }
}
