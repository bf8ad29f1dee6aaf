import type { Tree } from "./tree.ts";

/** The text of a small regular file; null where there is none, or a larger one. */
export function readSmall(tree: Tree, path: string, { most }: { readonly most: number }): string | null {
  try {
    using file = tree.open(path);
    if (file.facts.size > most) return null;
    const bytes = new Uint8Array(file.facts.size);
    return new TextDecoder().decode(bytes.subarray(0, file.read(bytes)));
  } catch {
    return null;
  }
}
