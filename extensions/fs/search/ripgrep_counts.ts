import type { FsContext } from "../workspace/context.ts";
import type { GrepOptions } from "./grep.ts";
import { rustPattern } from "./rust_pattern.ts";

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 32 << 20;
/** The same folders that our walk skips. */
const GLOBS = ["!.git", "!.hg", "!.svn", "!node_modules/", "!__pycache__/", "!.venv/"];

/** Hits per file (by its path without links) as counted by ripgrep, which runs behind the kernel wall without write
 * access. Null if there is no ripgrep or wall, or if the pattern means something else to ripgrep. The counts are a
 * hint: every file that is shown is read and matched again here. */
export async function ripgrepCounts(
  context: FsContext,
  { pattern, options }: { readonly pattern: string; readonly options: GrepOptions },
): Promise<ReadonlyMap<string, number> | null> {
  const wanted = options.literal ? pattern : rustPattern(pattern);
  if (wanted === null || options.path !== undefined) return null;
  const argv = [
    "rg",
    ...["--no-config", "--count", "--null", "--text", "--no-messages", "--hidden", "--crlf", "--encoding=none"],
    ...["--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-parent"],
    ...(options.all ? ["--no-ignore", ...globs(["!.git", "!.hg", "!.svn"])] : globs(GLOBS)),
    ...(options.ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(options.literal ? ["--fixed-strings"] : []),
    `--regexp=${wanted}`,
    "./",
  ];
  try {
    const found = await context.spawn?.(argv, {
      write: [],
      network: false,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_OUTPUT,
    });
    // 1: nothing was found. 2: something could not be read, or the pattern is not understood.
    if (!found || found.code > 1 || found.truncated) return null;
    return countsIn(found.stdout);
  } catch {
    context.signal?.throwIfAborted();
    return null;
  }
}

function globs(list: readonly string[]): string[] {
  return list.map((glob) => `--glob=${glob}`);
}

/** Each entry: `./src/a.ts NUL 12`. */
function countsIn(output: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of output.split("\n")) {
    const [named = "", count = ""] = line.split("\0");
    const path = named.replace(/^\.\//, "");
    const isPlain = path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
    if (isPlain && count !== "") counts.set(path, Number(count));
  }
  return counts;
}
