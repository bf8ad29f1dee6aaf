import { askAll, type AskAllOptions, type Failure } from "./ask.ts";
import { advised, type EnvironmentView, reasonOf } from "@vis/extension";

export type MapOptions = AskAllOptions & ChunkOptions;

export async function mapChunks(
  env: EnvironmentView,
  text: string | readonly string[],
  { instruction, size, overlap, ...options }: MapOptions & { readonly instruction: string },
): Promise<(string | Failure)[]> {
  const cutting = { ...(size === undefined ? {} : { size }), ...(overlap === undefined ? {} : { overlap }) };
  const pieces = typeof text === "string" ? chunk(text, cutting) : text;
  return await askAll(env, pieces.map((piece) => `${instruction}\n\n${piece}`), options);
}

const SIZE = 100_000;
const BETWEEN = "\n\n---\n\n";

export async function reduceChunks(
  env: EnvironmentView,
  texts: readonly unknown[],
  { instruction, size = SIZE, overlap: _none, ...options }: MapOptions & { readonly instruction: string },
): Promise<string> {
  let left = allTexts(texts);
  do {
    const prompts = groups(left, size).map((group) => `${instruction}\n\n${group.join(BETWEEN)}`);
    left = allTexts(await askAll(env, prompts, options));
  } while (left.length > 1);
  return left[0] ?? "";
}

function allTexts(texts: readonly unknown[]): string[] {
  const failed = texts.filter((text) => typeof text !== "string");
  if (failed.length === 0) return texts.map(String);
  const [first] = failed;
  const lacks = `${failed.length} of ${texts.length} texts`;
  if (typeof first === "object" && first !== null && "error" in first) {
    const reason = reasonOf(first.error);
    throw advised(new Error(`Cannot merge the texts: ${lacks} failed (${reason})`), "ask for these texts again");
  }
  throw advised(
    new TypeError(`Cannot merge the texts: the type of ${lacks} is not string`),
    "pass only strings",
  );
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
  // A single text joins the group before it, because each round must reduce the number of texts.
  const last = all.at(-1);
  if (group.length === 1 && last) last.push(...group);
  else all.push(group);
  return all;
}

export interface ChunkOptions {
  readonly size?: number;
  readonly overlap?: number;
}

export function chunk(text: string, { size = SIZE, overlap = 0 }: ChunkOptions = {}): string[] {
  if (overlap > size / 2) {
    throw advised(
      new RangeError(`Cannot cut the text: the overlap is ${overlap}, and the limit is half of the size, ${size / 2}`),
      "use a smaller overlap, or a larger size",
    );
  }
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = text.length - from <= size ? text.length : cut(text, { from, to: from + size });
    pieces.push(text.slice(from, to));
    if (to === text.length) break;
    from = whole(text, Math.max(from + 1, to - overlap));
  }
  return pieces;
}

function cut(text: string, { from, to }: { readonly from: number; readonly to: number }): number {
  const least = to - Math.floor((to - from) / 4);
  for (const mark of ["\n", " "]) {
    const at = text.lastIndexOf(mark, to - 1);
    if (at >= least) return at + 1;
  }
  return whole(text, to);
}

function whole(text: string, at: number): number {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000 ? at - 1 : at;
}
