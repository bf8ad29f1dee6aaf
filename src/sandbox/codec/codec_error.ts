/** A value cannot be encoded, or bytes are not what `encode` makes. */
export class CodecError extends TypeError {
  override readonly name = "CodecError";
  /** What is wrong: the message without what could not be done. */
  readonly what: string;
  /** Where in the value, like `.a[3].b`; "" for the value itself; null while decoding. */
  readonly path: string | null;
  /** True where only the size is in the way. */
  readonly tooLarge: boolean;
  constructor(
    { what, path, tooLarge = false }: {
      readonly what: string;
      readonly path: string | null;
      readonly tooLarge?: boolean;
    },
  ) {
    super(path === null ? `Cannot decode bytes: ${what}` : `Cannot encode value${path}: ${what}`);
    this.what = what;
    this.path = path;
    this.tooLarge = tooLarge;
  }
}
