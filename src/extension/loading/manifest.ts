import { messageOf } from "../../domain/errors.ts";
import { z } from "zod";

/** One extension of a folder, as described by `vis.json`. */
export interface ManifestEntry {
  readonly namespace: string;
  readonly version: string;
  /** Path of its module in the folder. */
  readonly entry: string;
  readonly requires: readonly string[];
  readonly allow: Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>;
}

const MAX_CHARS = 64 * 1024;
const word = z.string().max(200);
const words = z.array(word).max(100).default([]);
const Shape = z.strictObject({
  extensions: z.array(z.strictObject({
    namespace: word.regex(/^[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*$/, 'must look like "com.acme.search"'),
    version: word.regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, 'must look like "1.0.0"'),
    entry: word.refine(isInside, 'must be a path of a file in the folder, such as "mod.ts"')
      .refine((path) => /\.m?[jt]s$/.test(path), "must end in .ts, .mts, .js or .mjs"),
    requires: words,
    allow: z.strictObject({ net: words, read: words, write: words, env: words }).prefault({}),
    static: z.boolean().optional(),
    live: word.refine(isInside, "must be a path of a file in the folder").optional(),
    settings: word.refine(isInside, "must be a path of a file in the folder").optional(),
    section: word.optional(),
  })).min(1, "names no extension").max(50),
});

/** Parses `vis.json`. Throws Error that names the wrong key. */
export function readManifest(text: string): readonly ManifestEntry[] {
  if (text.length > MAX_CHARS) throw new Error(`Cannot use vis.json: ${text.length} characters, over ${MAX_CHARS}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`Cannot use vis.json: ${messageOf(error)}`);
  }
  const checked = Shape.safeParse(value);
  if (checked.success) return unique(checked.data.extensions);
  const [issue] = checked.error.issues;
  throw new Error(`Cannot use vis.json: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is wrong"}`);
}

function unique(entries: readonly ManifestEntry[]): readonly ManifestEntry[] {
  const names = entries.map(({ namespace }) => namespace);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`Cannot use vis.json: extensions: ${twice} is listed twice`);
  return entries;
}

function isInside(path: string): boolean {
  return path !== "" && !/[\\:\0]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
}
