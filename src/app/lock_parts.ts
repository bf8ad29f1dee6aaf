import type { Extension } from "../extension/spec.ts";
import type { ShippedParts } from "./extension_source.ts";

/** Functions of `fs` that change nothing. One that is not named here is left out: a new one has to be thought of. */
const READING = ["readFile", "readFiles", "glob", "grep", "listFiles", "stat", "tree"];
/** Other shipped extensions that write nothing into a workspace. */
const HARMLESS = ["debug", "history", "memo", "rlm", "skills", "web"];

const PROMPT =
  `Files of cwd, to which paths are relative; nothing can be written. Find first (fs.grep, fs.glob), never guess a path. Filter and count in code, return only what you must see:
  (await fs.readFiles("src/**/*.ts")).filter(f => f.text?.includes("TODO")).map(f => f.path)
Ignored files are left out ({all: true} takes them).`;

/** The shipped extensions of the locked profile; where the workspace is for reading alone, those that cannot write into
 * it. None is described: what is left out of one would still be told. */
export function lockParts(parts: ShippedParts, { writable }: { readonly writable: boolean }): ShippedParts {
  const { shell: _, ...shipped } = parts.shipped;
  if (writable) return { ...parts, shipped, described: {} };
  const { fs } = shipped;
  const harmless = Object.entries(shipped).filter(([name]) => HARMLESS.includes(name));
  const reading = fs ? { fs: async () => ({ default: withoutWriting((await fs()).default) }) } : {};
  return { ...parts, shipped: { ...Object.fromEntries(harmless), ...reading }, described: {} };
}

function withoutWriting(fs: Extension): Extension {
  return { ...fs, prompt: PROMPT, symbols: (fs.symbols ?? []).filter(({ name }) => READING.includes(name)) };
}
