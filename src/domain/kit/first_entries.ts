/** Functions of the C library. The disk may be slow, so they run on another thread. */
const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32", nonblocking: true },
  getdents64: { parameters: ["i32", "buffer", "usize"], result: "i64", nonblocking: true },
  close: { parameters: ["i32"], result: "i32" },
} as const;
const O_DIRECTORY = Deno.build.arch === "aarch64" ? 0o40000 : 0o200000, O_CLOEXEC = 0o2000000;
const PIECE_BYTES = 32_768;
/** Offsets in an entry: its length, its kind, and where its name begins. */
const LENGTH_AT = 16, KIND_AT = 18, NAME_AT = 19;
const KINDS: Readonly<Record<number, Omit<Deno.DirEntry, "name">>> = {
  4: { isDirectory: true, isFile: false, isSymlink: false },
  8: { isDirectory: false, isFile: true, isSymlink: false },
  10: { isDirectory: false, isFile: false, isSymlink: true },
};
const OTHER = { isDirectory: false, isFile: false, isSymlink: false };

export interface FirstEntries {
  /** In the order of the system. */
  readonly entries: readonly Deno.DirEntry[];
  /** Whether the folder has more of them. */
  readonly hasMore: boolean;
}

/** The entries of a folder, at most `most` of them. Where the system allows it, no more are read: all of 300,000 would
 * take a tenth of a gigabyte, and stop this process for half a second. Throws the system's errors. */
export async function firstEntries(
  path: string,
  { most, os = Deno.build.os }: { readonly most: number; readonly os?: string },
): Promise<FirstEntries> {
  const library = os === "linux" ? LIBRARY.opened : null;
  const folder = await library?.symbols.open(terminated(path), O_DIRECTORY | O_CLOEXEC) ?? -1;
  if (!library || folder < 0) return await firstOf(Deno.readDir(path), most); // the runtime explains the failure
  try {
    return await firstOf(entriesOf(library, { folder, path }), most);
  } finally {
    library.symbols.close(folder);
  }
}

class Library {
  #opened: Deno.DynamicLibrary<typeof SYMBOLS> | null | undefined;

  /** Null where the library is another one. */
  get opened(): Deno.DynamicLibrary<typeof SYMBOLS> | null {
    if (this.#opened !== undefined) return this.#opened;
    try {
      this.#opened = Deno.dlopen("libc.so.6", SYMBOLS);
    } catch {
      this.#opened = null;
    }
    return this.#opened;
  }
}

const LIBRARY = new Library();

async function firstOf(all: AsyncIterable<Deno.DirEntry>, most: number): Promise<FirstEntries> {
  const entries: Deno.DirEntry[] = [];
  for await (const entry of all) {
    if (entries.length === most) return { entries, hasMore: true };
    entries.push(entry);
  }
  return { entries, hasMore: false };
}

async function* entriesOf(
  { symbols }: Deno.DynamicLibrary<typeof SYMBOLS>,
  { folder, path }: { readonly folder: number; readonly path: string },
): AsyncGenerator<Deno.DirEntry> {
  const bytes = new Uint8Array(PIECE_BYTES);
  const view = new DataView(bytes.buffer);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (;;) {
    const length = Number(await symbols.getdents64(folder, bytes, BigInt(PIECE_BYTES)));
    if (length < 0) throw new Error(`Cannot list ${path}`);
    if (length === 0) return;
    for (let at = 0; at < length; at += view.getUint16(at + LENGTH_AT, true)) {
      const name = decoder.decode(bytes.subarray(at + NAME_AT, bytes.indexOf(0, at + NAME_AT)));
      if (name === "." || name === "..") continue;
      yield { name, ...KINDS[view.getUint8(at + KIND_AT)] ?? await kindOf(`${path}/${name}`) };
    }
  }
}

/** Some file systems do not return kinds with names. */
async function kindOf(path: string): Promise<Omit<Deno.DirEntry, "name">> {
  return await Deno.lstat(path).catch(() => OTHER);
}

function terminated(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
