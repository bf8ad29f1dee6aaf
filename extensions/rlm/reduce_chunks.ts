import type { EnvironmentView } from "@vis/extension";
import { askAll } from "./ask_all.ts";
import type { MapOptions } from "./map_chunks.ts";

const SIZE = 100_000;
const BETWEEN = "\n\n---\n\n";

/** Applies the instruction to as many texts as fit one prompt, at least two, until one is left. Throws if a text, or an
 * intermediate answer, is a failure. */
export async function reduceChunks(
  env: EnvironmentView,
  texts: readonly unknown[],
  { instruction, size = SIZE, overlap: _none, ...options }: MapOptions & { readonly instruction: string },
): Promise<string> {
  let left = whole(texts);
  do {
    const prompts = groups(left, size).map((group) => `${instruction}\n\n${group.join(BETWEEN)}`);
    left = whole(await askAll(env, prompts, options));
  } while (left.length > 1);
  return left[0] ?? "";
}

function whole(texts: readonly unknown[]): string[] {
  const failed = texts.filter((text) => typeof text !== "string");
  if (failed.length === 0) return texts.map(String);
  const [first] = failed;
  const why = typeof first === "object" && first !== null && "error" in first ? String(first.error) : typeof first;
  throw new TypeError(`Cannot merge: ${failed.length} of ${texts.length} are not texts (${why})`);
}

function groups(texts: readonly string[], size: number): string[][] {
  const all: string[][] = [];
  let group: string[] = [], chars = 0;
  for (const text of texts) {
    if (group.length >= 2 && chars + text.length > size) {
      all.push(group);
      group = [];
      chars = 0;
    }
    group.push(text);
    chars += text.length + BETWEEN.length;
  }
  // A single one joins the group before it: every round must reduce their number.
  const last = all.at(-1);
  if (group.length === 1 && last) last.push(...group);
  else all.push(group);
  return all;
}
