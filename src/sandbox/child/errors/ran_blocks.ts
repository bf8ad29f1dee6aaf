import type { PositionMap } from "../syntax/position_map.ts";

/** Text that was run. It is looked up by the file name in the frames of a stack. */
export interface RanBlock {
  /** File name under which its code was compiled. */
  readonly file: string;
  readonly code: string;
  readonly map: PositionMap;
  /** The text that the model wrote. */
  readonly source: string;
  /** For the model: "block 2 of iteration 5". */
  readonly label: string;
}

/** Limit for the texts, including the overhead of each block. */
const MAX_SIZE = 1 << 20;
const BLOCK_SIZE = 1024;
const RESTORED = "kept.";
const ALWAYS = -1;

/** The latest blocks of this child and sources that it restored: errors may come from functions of any of them. */
export class RanBlocks {
  readonly #blocks = new Map<string, RanBlock & { readonly query: number }>();
  #size = 0;
  #count = 0;
  #query = 0;

  /** Assigns a block its file name; the same number in two queries results in different names. */
  add(
    block: Omit<RanBlock, "file" | "label">,
    place: { readonly iteration: number; readonly index: number },
  ): RanBlock {
    const label = `block ${place.index + 1} of iteration ${place.iteration}`;
    return this.#keep({ ...block, file: `block${++this.#count}`, label, query: this.#query });
  }

  /** Adds the source of a restored function or class: evaluated under `fileOfRestored(name)`, starting on its second
   * line. */
  addRestored(name: string, source: string): void {
    const map = [0, 0, 0, 1, 0, source.length + 1];
    this.#keep({ file: fileOfRestored(name), code: `\n${source}`, source, map, label: "its source", query: ALWAYS });
  }

  find(file: string): RanBlock | null {
    const found = this.#blocks.get(file);
    if (!found) return null;
    const earlier = found.query !== ALWAYS && found.query !== this.#query;
    return earlier ? { ...found, label: `${found.label} of an earlier query` } : found;
  }

  endQuery(): void {
    this.#query++;
  }

  #keep(block: RanBlock & { readonly query: number }): RanBlock {
    this.#size += sizeOf(block) - sizeOf(this.#blocks.get(block.file));
    this.#blocks.delete(block.file);
    this.#blocks.set(block.file, block);
    for (const [file, oldest] of this.#blocks) {
      if (this.#size <= MAX_SIZE || file === block.file) break;
      this.#blocks.delete(file);
      this.#size -= sizeOf(oldest);
    }
    return block;
  }
}

function sizeOf(block: RanBlock | undefined): number {
  return block ? BLOCK_SIZE + block.code.length + block.source.length + block.map.length : 0;
}

/** Also used where it is evaluated. */
export function fileOfRestored(name: string): string {
  return RESTORED + name;
}
