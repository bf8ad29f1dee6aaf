import type { EnvironmentView } from "@vis/extension";
import { askAll, type AskAllOptions, type Failure } from "./ask_all.ts";
import { chunk, type ChunkOptions } from "./chunk.ts";

export type MapOptions = AskAllOptions & ChunkOptions;

/** One answer per chunk, in order. */
export async function mapChunks(
  env: EnvironmentView,
  text: string | readonly string[],
  { instruction, size, overlap, ...options }: MapOptions & { readonly instruction: string },
): Promise<(string | Failure)[]> {
  const cutting = { ...(size === undefined ? {} : { size }), ...(overlap === undefined ? {} : { overlap }) };
  const pieces = typeof text === "string" ? chunk(text, cutting) : text;
  return await askAll(env, pieces.map((piece) => `${instruction}\n\n${piece}`), options);
}
