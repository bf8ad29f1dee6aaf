import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync, zipSync } from "fflate";
import { createTar } from "nanotar";
import { ROOT } from "../_project.ts";

export interface Program {
  /** Like `deno compile --target`. */
  readonly target: string;
  /** Path of the executable. */
  readonly path: string;
}

export interface PackOptions {
  readonly version: string;
  readonly programs: readonly Program[];
  /** Folder to create. */
  readonly output: string;
  /** Where the files will be published, or "" if unknown; `install.sh` downloads from there. */
  readonly baseUrl: string;
  /** Modification time of every entry, in milliseconds since the epoch: the same input produces the same archive. */
  readonly modifiedAt: number;
}

/** What an archive contains besides the executable, by its name there. */
const DOCS: Readonly<Record<string, string>> = {
  "LICENSE": "LICENSE",
  "LICENSE-third-party": "LICENSE-third-party",
  "README.md": "README.md",
  "CHANGELOG.md": "CHANGELOG.md",
  "vis.1": "docs/generated/vis.1",
};

/** Two blocks of zeros end an archive; nanotar fills up to a whole record, which may leave room for one or none. */
const END_OF_TAR = 1024;

interface Entry {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** Writes an archive for each program, `SHA256SUMS` and `install.sh`. Resolves with the names of the files. */
export async function packRelease(options: PackOptions): Promise<readonly string[]> {
  const { version, output, programs } = options;
  if (!/^\d+\.\d+\.\d+[\w.-]*$/.test(version)) throw new Error(`Cannot release version: ${version}`);
  await Deno.mkdir(output, { recursive: true });
  const files = new Map<string, Uint8Array>();
  for (const program of programs) {
    const windows = program.target.includes("windows");
    const entries = await entriesOf(program, { folder: `vis-${version}`, windows });
    const name = `vis-${version}-${program.target}${windows ? ".zip" : ".tar.gz"}`;
    files.set(name, (windows ? zipped : tarred)(entries, options.modifiedAt));
  }
  files.set("install.sh", new TextEncoder().encode(await installer(options)));
  for (const [name, bytes] of files) await Deno.writeFile(join(output, name), bytes);
  await Deno.writeTextFile(join(output, "SHA256SUMS"), sums(files));
  return [...files.keys(), "SHA256SUMS"].sort();
}

async function entriesOf(
  { path }: Program,
  { folder, windows }: { readonly folder: string; readonly windows: boolean },
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const [name, source] of Object.entries(DOCS)) {
    entries.push({ name: `${folder}/${name}`, bytes: await Deno.readFile(join(ROOT, source)), executable: false });
  }
  const name = `${folder}/${windows ? "vis.exe" : "vis"}`;
  entries.push({ name, bytes: await Deno.readFile(path), executable: true });
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function tarred(entries: readonly Entry[], mtime: number): Uint8Array {
  const files = entries.map(({ name, bytes: data, executable }) => {
    return { name, data, attrs: { mode: executable ? "755" : "644" } };
  });
  const tar = createTar(files, { attrs: { mtime, uid: 0, gid: 0 } });
  const ended = new Uint8Array(tar.length + END_OF_TAR);
  ended.set(tar);
  return gzipSync(ended, { mtime: 0 });
}

function zipped(entries: readonly Entry[], mtime: number): Uint8Array {
  return zipSync(Object.fromEntries(entries.map(({ name, bytes }) => [name, bytes])), { mtime });
}

async function installer({ version, baseUrl }: PackOptions): Promise<string> {
  if (baseUrl !== "" && !URL.canParse(baseUrl)) throw new Error(`Cannot use address: ${baseUrl}`);
  if (/'/.test(baseUrl)) throw new Error(`Cannot use address with a quote: ${baseUrl}`);
  const template = await Deno.readTextFile(join(ROOT, "scripts/release/install.sh"));
  return template.replace("@VERSION@", version).replace("@BASE_URL@", baseUrl.replace(/\/+$/, ""));
}

/** In the format that `sha256sum --check` reads. */
function sums(files: ReadonlyMap<string, Uint8Array>): string {
  return [...files].sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, bytes]) => `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`).join("");
}
