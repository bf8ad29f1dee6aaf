/** A value cannot be encoded, or bytes are not what `encode` makes. */
export class CodecError extends TypeError {
  override readonly name = "CodecError";
  /** Where in the value, like `.a[3].b`; "" for the value itself and while decoding. */
  readonly path: string;
  /** True where only the size is in the way. */
  readonly tooLarge: boolean;
  constructor(message: string, facts: { readonly path?: string; readonly tooLarge?: boolean } = {}) {
    super(message);
    this.path = facts.path ?? "";
    this.tooLarge = facts.tooLarge ?? false;
  }
}
