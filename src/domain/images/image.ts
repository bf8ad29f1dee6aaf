/** An image in a request: its bytes, or an address that the provider's service fetches. */
export type Image =
  | { readonly kind: "bytes"; readonly mediaType: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "url"; readonly url: string };
