import { fileFault, messageOf } from "../domain/errors.ts";
import { inputFault } from "../domain/input_fault.ts";
import { ensureFolder, firstEntries, plainFile, plainTextFile, replaceFile } from "../domain/kit/files.ts";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { z } from "zod";

/** The files are a snapshot, so that Vis loads exactly the bytes that it hashed. */
export interface ExtensionFolder {
  readonly path: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly hash: string;
  readonly entries: readonly ManifestEntry[];
}

const MAX_FILES = 2_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_DEPTH = 16;
/** Git changes this folder, so Vis loads none of its files. */
const LEFT_OUT = ".git";

export async function readExtensionFolder(path: string): Promise<ExtensionFolder> {
  const info = await Deno.lstat(path).catch((error: unknown) => {
    const advice = error instanceof Deno.errors.NotFound ? "; create an extension with vis extensions new" : "";
    throw refused(path, `${fileFault(error)}${advice}`);
  });
  if (info.isSymlink) throw refused(path, "it is a link; use the folder that the link names");
  if (!info.isDirectory) throw refused(path, "it is not a folder");
  const reader = new FolderReader(path);
  await reader.read("", 0);
  return extensionOfFiles(path, reader.files);
}

export function extensionOfFiles(path: string, unsorted: ReadonlyMap<string, Uint8Array>): ExtensionFolder {
  const files = new Map([...unsorted].sort(([a], [b]) => a < b ? -1 : 1));
  const manifest = files.get("vis.json");
  if (!manifest) throw refused(path, "it has no vis.json; vis extensions new creates a folder with one");
  const entries = readManifest(path, manifest);
  const absent = entries.find(({ entry }) => !files.has(entry));
  if (absent) {
    throw refused(path, `vis.json names ${absent.entry}, which does not exist in this folder; correct the entry`);
  }
  return { path, files, hash: hashOf(files), entries };
}

function refused(path: string, why: string): Error {
  return new Error(`Cannot use extension folder ${path}: ${why}`);
}

class FolderReader {
  readonly files = new Map<string, Uint8Array>();
  readonly #root: string;
  #bytes = 0;
  #names = 0;

  constructor(root: string) {
    this.#root = root;
  }

  async read(folder: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) {
      throw refused(this.#root, `its folders are nested more than ${MAX_DEPTH} levels deep, the limit`);
    }
    const { entries, hasMore } = await firstEntries(join(this.#root, folder), { most: MAX_FILES });
    this.#names += entries.length;
    if (hasMore || this.#names > MAX_FILES) {
      throw refused(this.#root, `it has more than ${MAX_FILES} files and folders, the limit`);
    }
    for (const { name } of entries) {
      if (name === LEFT_OUT) continue;
      const inside = folder === "" ? name : `${folder}/${name}`;
      const info = await Deno.lstat(join(this.#root, inside));
      if (info.isDirectory) await this.read(inside, depth + 1);
      else if (info.isFile) await this.#take(inside, info.size);
      else {throw refused(
          this.#root,
          `${inside} is ${
            info.isSymlink ? "a link; remove it or replace it with a copy" : "neither a file nor a folder; remove it"
          }`,
        );}
    }
  }

  async #take(inside: string, size: number): Promise<void> {
    this.#bytes += size;
    if (this.#bytes > MAX_BYTES) {
      throw refused(this.#root, `it is larger than ${MAX_BYTES / 1024 / 1024} MiB, the limit`);
    }
    this.files.set(inside, await plainFile(join(this.#root, inside), { links: false, most: MAX_BYTES }));
  }
}

/** Lengths precede paths and contents, so that no two folders produce the same bytes. */
function hashOf(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash("sha256");
  for (const [path, bytes] of files) {
    const name = new TextEncoder().encode(path);
    hash.update(`${name.length}:`).update(name).update(`${bytes.length}:`).update(bytes);
  }
  return hash.digest("hex");
}

export interface ManifestEntry {
  readonly namespace: string;
  readonly version: string;
  readonly entry: string;
  readonly requires: readonly string[];
  readonly allow: Readonly<Record<"net" | "read" | "write" | "env", readonly string[]>>;
}

const MAX_MANIFEST_BYTES = 64 * 1024;
const word = z.string().max(200);
const words = z.array(word).max(100).default([]);
const Shape = z.strictObject({
  extensions: z.array(z.strictObject({
    namespace: word.regex(/^[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*$/, 'must look like "com.acme.search"'),
    version: word.regex(/^\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/, 'must look like "1.0.0"'),
    entry: word.refine(isInside, 'must be a path of a file in the folder, such as "mod.ts"')
      .refine((path) => /\.m?[jt]s$/.test(path), "must end in .ts, .mts, .js or .mjs"),
    requires: words,
    allow: z.strictObject({ net: words, read: words, write: words, env: words }).prefault({}),
  })).min(1, "names no extension").max(50),
});

function readManifest(folder: string, bytes: Uint8Array): readonly ManifestEntry[] {
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw refused(folder, `vis.json has ${bytes.length} bytes, and the limit is ${MAX_MANIFEST_BYTES}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(utf8Text(folder, bytes));
  } catch (error) {
    throw error instanceof SyntaxError
      ? refused(folder, `vis.json is not valid JSON (${messageOf(error)}); correct the file`)
      : error;
  }
  const checked = Shape.safeParse(value, { error: inputFault });
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw refused(
      folder,
      `vis.json is not valid, because ${issue?.path.join(".") || "the file"} ${issue?.message ?? "is wrong"}`,
    );
  }
  const { extensions } = checked.data;
  const names = extensions.map(({ namespace }) => namespace);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw refused(folder, `vis.json lists extension ${twice} twice; remove one of the entries`);
  return extensions;
}

function utf8Text(folder: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(folder, "vis.json is not UTF-8; save it as UTF-8");
  }
}

function isInside(path: string): boolean {
  return path !== "" && !/[\\:\0]/.test(path) && path.split("/").every((part) => !["", ".", ".."].includes(part));
}

const TrustedShape = z.object({
  trusted: z.array(z.object({
    path: z.string(),
    hash: z.string(),
    namespaces: z.array(z.string()).readonly(),
    at: z.string(),
  })),
});

type Trusted = Readonly<z.infer<typeof TrustedShape>["trusted"][number]>;

export class TrustList {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async all(): Promise<readonly Trusted[]> {
    let text: string;
    try {
      text = await plainTextFile(this.#file);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw new Error(`Cannot read ${this.#file}: ${fileFault(error)}; correct or remove the file`);
    }
    try {
      return TrustedShape.parse(JSON.parse(text)).trusted;
    } catch {
      throw new Error(
        `Cannot read ${this.#file}: it is not a list of trusted extensions or settings files; correct or remove the file`,
      );
    }
  }

  async has(path: string, hash: string): Promise<boolean> {
    return (await this.all()).some((one) => one.path === path && one.hash === hash);
  }

  async add(one: Trusted): Promise<void> {
    await this.#write([...(await this.all()).filter(({ path }) => path !== one.path), one]);
  }

  async remove(path: string): Promise<boolean> {
    const all = await this.all();
    const rest = all.filter((one) => one.path !== path);
    if (rest.length < all.length) await this.#write(rest);
    return rest.length < all.length;
  }

  async #write(trusted: readonly Trusted[]): Promise<void> {
    await ensureFolder(dirname(this.#file));
    await replaceFile(this.#file, `${JSON.stringify({ trusted }, null, 2)}\n`);
  }
}
