import { Buffer } from "node:buffer";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { PartFiles } from "./part_files.ts";

const { Script } = process.getBuiltinModule("node:vm");
const { zstdDecompressSync } = process.getBuiltinModule("node:zlib");

type Bytes = Buffer<ArrayBuffer>;

type Evaluate = (load: (name: string) => Promise<unknown>, url: string, ...imports: readonly unknown[]) => unknown;

interface Defined {
  readonly imports: readonly string[];
  readonly evaluate: Evaluate;
}

const PACK = "program";
const EMBEDDED = "worker.js";

/** One script with a code cache has the modules that a usual run needs. `ProgramModules` reads each other module only
 * for its import. */
export class ProgramModules {
  readonly #folder: string;
  readonly #files: Pick<PartFiles, "read">;
  readonly #defined = new Map<string, Defined>();
  readonly #values = new Map<string, unknown>();
  readonly #pack: InstanceType<typeof Script>;

  constructor(folder: string, files: Pick<PartFiles, "read">) {
    this.#folder = folder;
    this.#files = files;
    checkFolder(folder);
    this.#pack = this.#read(`${PACK}.js`, this.#cache());
    trimHeap();
  }

  get evaluated(): readonly string[] {
    return [...this.#values.keys()];
  }

  codeCache(): Uint8Array {
    return this.#pack.createCachedData();
  }

  readonly load = async (name: string): Promise<unknown> => {
    return name.startsWith("./") ? await this.#value(name.slice(2)) : await import(name);
  };

  #value(name: string): unknown {
    if (name.startsWith("node:")) return process.getBuiltinModule(name);
    if (!this.#values.has(name)) {
      if (!this.#defined.has(name)) this.#read(name);
      const { imports, evaluate } = this.#defined.get(name)!;
      const given = imports.map((one) => {
        const value = this.#value(one.replace(/^\.\//, ""));
        if (value instanceof Promise) throw new Error(`Cannot load ${name}: it does not wait for ${one}, which awaits`);
        return value;
      });
      this.#values.set(name, evaluate(this.load, `${this.#folder}${name}`, ...given));
    }
    return this.#values.get(name);
  }

  /** The URL of the script gives it the globals of Deno. */
  #read(file: string, cachedData: Bytes | null = null): InstanceType<typeof Script> {
    const filename = `${this.#folder}${file}`;
    const text = this.#content(file);
    const script = new Script(text.toString(), { filename, ...cachedData && { cachedData } });
    text.buffer.transfer(0); // The transfer frees the memory of the text before the next garbage collection.
    cachedData?.buffer.transfer(0);
    script.runInThisContext()((name: string, imports: readonly string[], evaluate: Evaluate): void => {
      this.#defined.set(name, { imports, evaluate });
    });
    return script;
  }

  #cache(): Bytes | null {
    try {
      return this.#content(`${PACK}.cache`);
    } catch {
      return null;
    }
  }

  #content(file: string): Bytes {
    try {
      const packed = this.#files.read(`${file}.zst`);
      const content = zstdDecompressSync(packed, { chunkSize: 4 << 20 }) as Bytes;
      packed.buffer.transfer(0);
      return content;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return Buffer.from(this.#files.read(file).buffer);
    }
  }
}

/** The runtime shows embedded files below the temporary folder, but lets no program read /dev, /proc and /sys. */
function checkFolder(url: string): void {
  try {
    Deno.readFileSync(new URL(EMBEDDED, url));
    return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) return; // Vis runs from source.
  }
  const folder = fileURLToPath(new URL("..", url));
  console.error(
    `vis: Cannot use the temporary folder ${folder}: it is in /dev, /proc or /sys; set TMPDIR to a folder that Vis may write`,
  );
  Deno.exit(3);
}

/** glibc would keep the memory that unpacking has used. */
function trimHeap(): void {
  try {
    const libc = Deno.dlopen("libc.so.6", { malloc_trim: { parameters: ["usize"], result: "i32" } });
    libc.symbols.malloc_trim(0n);
    libc.close();
  } catch { /* This system does not use glibc. */ }
}
