import type { PositionMap } from "../syntax/position_map.ts";

/** Text that was handed to the worker, found again by the file name that frames of a stack give. */
export interface RanBlock {
  /** File name that its code was compiled with. */
  readonly file: string;
  readonly code: string;
  readonly map: PositionMap;
  /** The text that the model wrote. */
  readonly source: string;
  /** For the model: "block 2 of iteration 5". */
  readonly label: string;
}

/** Of texts, with the room that a block takes beside its text. */
const MAX_SIZE = 1 << 20;
const BLOCK_SIZE = 1024;
const RESTORED = "kept.";
const ALWAYS = -1;

/** Blocks of this child and sources it restored, the newest of them: errors may come out of functions of any. */
export class RanBlocks {
  readonly #blocks = new Map<string, RanBlock & { readonly query: number }>();
  #size = 0;
  #count = 0;
  #query = 0;

  /** Gives a block its file name; the same number in two queries does not make the same name. */
  add(
    block: Omit<RanBlock, "file" | "label">,
    place: { readonly iteration: number; readonly index: number },
  ): RanBlock {
    const label = `block ${place.index + 1} of iteration ${place.iteration}`;
    return this.#keep({ ...block, file: `block${++this.#count}`, label, query: this.#query });
  }

  /** The source of a restored function or class: evaluated under `fileOfRestored(name)`, from its second line on. */
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

/** Also used by the worker, which compiles it. */
export function fileOfRestored(name: string): string {
  return RESTORED + name;
}
