/** A named command: "/name" in the input, an entry of the palette, and keys if it has some. */
export interface PaletteCommand {
  readonly name: string;
  readonly detail: string;
  readonly keys: string;
  run(argument: string): void | Promise<void>;
}
