import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { Pace } from "../domain/kit/concurrency.ts";
import { keptStampOf, stampOf } from "./folders.ts";

const MOST_KNOWN = 64, MOST_BYTES = 64 << 20, MOST_SUBMODULES = 2_000;
const KIND_MASK = 0o170000, SUBMODULE = 0o160000;
/** The bytes of an entry before its hash, and between the hash and the name. */
const STAT_BYTES = 40, FLAG_BYTES = 2;
/** The number of entries that are read between two looks at the clock. */
const AT_ONCE = 2_000;

/** The facts that Vis reads from an index. */
interface IndexFacts {
  /** The names of submodules, checked out or not. */
  readonly submodules: readonly string[];
  /** The hashes of the wanted files, by their names. */
  readonly hashes: ReadonlyMap<string, Buffer>;
}

const NOTHING: Parsed = { submodules: [], hashes: new Map(), shared: null };

/** Reads the lists of files that repositories track, again only once they have changed. */
export class GitIndexes {
  readonly #known = new BoundedMap<string, IndexFacts & { readonly stamp: string | null; readonly names: string }>(
    MOST_KNOWN,
  );

  /** Reads the hashes of `files`; none if the index is missing. Throws Error for an index that is too large. */
  async read(
    path: string,
    { sha256, files = [] }: { readonly sha256: boolean; readonly files?: readonly string[] },
  ): Promise<IndexFacts> {
    const stamp = keptStampOf(path), names = files.join("\0");
    const known = this.#known.get(path);
    if (stamp !== null && known?.stamp === stamp && known.names === names) return known;
    const hashBytes = sha256 ? 32 : 20;
    const { shared, ...facts } = await read(path, { hashBytes, files });
    // A file of a split index may have changed or disappeared by now, so it counts as not tracked.
    const base = shared === null ? NOTHING : await read(join(dirname(path), shared), { hashBytes, files: [] });
    const whole = { ...facts, submodules: [...new Set([...facts.submodules, ...base.submodules])] };
    this.#known.set(path, { ...whole, stamp, names });
    return whole;
  }
}

interface Parsed extends IndexFacts {
  /** The name of the file with the other entries of a split index. */
  readonly shared: string | null;
}

interface Wanted {
  readonly hashBytes: number;
  readonly files: readonly string[];
}

async function read(path: string, wanted: Wanted): Promise<Parsed> {
  const size = Number(stampOf(path).split(",", 1)[0]);
  if (size > MOST_BYTES) {
    throw new Error(
      `Cannot find the submodules of a repository: ${path} has ${size} bytes, and ${MOST_BYTES} is the most that is read`,
    );
  }
  const bytes = size > 0 ? await Deno.readFile(path).catch(() => null) : null;
  return bytes === null ? NOTHING : await parse(Buffer.from(bytes.buffer), wanted);
}

async function parse(index: Buffer, { hashBytes, files }: Wanted): Promise<Parsed> {
  const version = index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC" ? 0 : index.readUInt32BE(4);
  if (version < 2 || version > 4) return NOTHING;
  const submodules: string[] = [], hashes = new Map<string, Buffer>(), wanted = new Set(files), pace = new Pace();
  const head = STAT_BYTES + hashBytes + FLAG_BYTES;
  let name: Buffer = Buffer.alloc(0);
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0 && at + head < index.length; left--) {
    if (left % AT_ONCE === 0 && pace.due) await pace.rest();
    const mode = index.readUInt32BE(at + 24), flags = index.readUInt16BE(at + head - FLAG_BYTES);
    let from = at + head + (version > 2 && (flags & 0x4000) !== 0 ? 2 : 0);
    let kept = 0;
    if (version === 4) {
      // The number of bytes that this name drops from the end of the previous name.
      let cut = 0, more = true;
      for (let first = true; more; first = false) {
        const byte = index[from++] ?? 0;
        cut = (first ? 0 : (cut + 1) << 7) | (byte & 0x7f);
        more = (byte & 0x80) !== 0;
      }
      kept = Math.max(name.length - cut, 0);
    }
    const end = index.indexOf(0, from);
    if (end < 0) break;
    name = Buffer.concat([name.subarray(0, kept), index.subarray(from, end)]);
    if ((mode & KIND_MASK) === SUBMODULE) {
      if (submodules.length < MOST_SUBMODULES) submodules.push(name.toString());
    } else if (wanted.size > 0 && wanted.has(name.toString())) {
      hashes.set(name.toString(), Buffer.from(index.subarray(at + STAT_BYTES, at + STAT_BYTES + hashBytes)));
    }
    at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
  }
  return { submodules, hashes, shared: sharedIndex(index, { at, hashBytes }) };
}

/** Returns the extension of a split index, among the extensions after the entries. */
function sharedIndex(
  index: Buffer,
  { at, hashBytes }: { readonly at: number; readonly hashBytes: number },
): string | null {
  for (let from = at; from + 8 + hashBytes <= index.length; from += 8 + index.readUInt32BE(from + 4)) {
    if (index.toString("latin1", from, from + 4) !== "link") continue;
    const hash = index.toString("hex", from + 8, from + 8 + hashBytes);
    return /^0*$/.test(hash) ? null : `sharedindex.${hash}`;
  }
  return null;
}
