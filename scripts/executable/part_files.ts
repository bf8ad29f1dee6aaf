/** The files are before the part at the end of the executable that the runtime reads into memory. */
export interface Attached {
  /** The attached bytes begin with this id, so a program recognizes another executable at the same path. */
  readonly id: string;
  readonly bytes: number;
  readonly files: Readonly<Record<string, readonly [at: number, bytes: number]>>;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Files that are attached to the executable take memory only if the program reads them. An executable stays readable
 * after its replacement. */
export class PartFiles {
  readonly #folder: string;
  readonly #files: Attached["files"];
  readonly #executable: Deno.FsFile | null;
  readonly #begin: number = 0;

  constructor(
    folder: string,
    { attached, executable = Deno.execPath() }: { readonly attached: Attached | null; readonly executable?: string },
  ) {
    this.#folder = folder;
    this.#files = attached?.files ?? {};
    this.#executable = attached && Deno.openSync(executable);
    if (attached === null || this.#executable === null) return;
    // The last 8 bytes of an executable of Deno contain the number of bytes at its end that the runtime reads.
    const size = this.#executable.seekSync(-8, Deno.SeekMode.End) + 8;
    this.#begin = size - Number(new DataView(this.#bytes(8).buffer).getBigUint64(0, true)) - attached.bytes;
    this.#executable.seekSync(this.#begin, Deno.SeekMode.Start);
    if (new TextDecoder().decode(this.#bytes(attached.id.length)) === attached.id) return;
    throw new Error(`Cannot read ${executable}: it was replaced while it started; start it again`);
  }

  read(name: string): Bytes {
    const place = Object.hasOwn(this.#files, name) ? this.#files[name] : undefined;
    if (!place) return Deno.readFileSync(new URL(name, this.#folder));
    this.#executable?.seekSync(this.#begin + place[0], Deno.SeekMode.Start);
    return this.#bytes(place[1]);
  }

  close(): void {
    this.#executable?.close();
  }

  #bytes(length: number): Bytes {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const got = this.#executable?.readSync(bytes.subarray(at)) ?? 0;
      if (got === 0) {
        throw new Error(`Cannot read the files of the executable: ${length - at} bytes are missing`);
      }
      at += got;
    }
    return bytes;
  }
}
