/** Something that a user can do by a name: "/name" in the input, an entry of the palette, keys where it has some. */
export interface PaletteCommand {
  readonly name: string;
  readonly detail: string;
  readonly keys: string;
  run(argument: string): void | Promise<void>;
}
