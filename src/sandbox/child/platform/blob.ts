export type BlobPart = string | ArrayBuffer | ArrayBufferView | RealmBlob;

/** Blob for the realm; owns its bytes. */
export class RealmBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;

  constructor(parts: Iterable<BlobPart> = [], { type = "" }: { readonly type?: string } = {}) {
    const pieces = [...parts].map(bytesOf);
    this.#bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const piece of pieces) {
      this.#bytes.set(piece, at);
      at += piece.length;
    }
    this.type = String(type).toLowerCase();
  }

  get size(): number {
    return this.#bytes.length;
  }

  slice(...[from, to, type = ""]: readonly [from?: number, to?: number, type?: string]): RealmBlob {
    return new RealmBlob([this.#bytes.slice(from, to)], { type });
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return Promise.resolve(this.#bytes.slice());
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(this.#bytes.slice().buffer);
  }

  text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.#bytes));
  }

  /** Reads synchronously, for bodies. */
  static read(blob: RealmBlob): Uint8Array<ArrayBuffer> {
    return blob.#bytes;
  }
}

function bytesOf(part: BlobPart): Uint8Array<ArrayBuffer> {
  if (part instanceof RealmBlob) return RealmBlob.read(part);
  if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part)) {
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice() as Uint8Array<ArrayBuffer>;
  }
  return new TextEncoder().encode(String(part));
}
