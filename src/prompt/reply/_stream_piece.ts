/** The meaning of the next character of a streamed reply. */
export type StreamPiece =
  | { readonly kind: "none" }
  | { readonly kind: "end" }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "code"; readonly block: number; readonly text: string }
  /** The reply object has begun; `text` is its text so far. */
  | { readonly kind: "object"; readonly text: string };

export const NO_PIECE: StreamPiece = { kind: "none" };
