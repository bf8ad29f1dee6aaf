/** A value cannot be encoded, or bytes were not produced by `encode`. */
export class CodecError extends TypeError {
  override readonly name = "CodecError";
  /** What is wrong: the message without the action that failed. */
  readonly what: string;
  /** Path in the value, such as `.a[3].b`; "" for the value itself; null while decoding. */
  readonly path: string | null;
  /** True if only the size is the problem. */
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
