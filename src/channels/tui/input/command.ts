import type { Outgoing } from "./outgoing.ts";

/** A named command: "/name" in the input, an entry of the palette, and keys if it has some. */
export interface PaletteCommand {
  readonly name: string;
  /** Other names that are understood. */
  readonly aliases?: readonly string[];
  readonly detail: string;
  readonly keys: string;
  /** `outgoing`: the message that was typed, if it was. */
  run(words: string, outgoing?: Outgoing): void | Promise<void>;
}
