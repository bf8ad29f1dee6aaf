import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { Pace } from "../domain/kit/concurrency.ts";
import { plainFile } from "../domain/kit/files.ts";
import { GitIndex } from "../domain/kit/git_repository.ts";
import { keptStampOf, stampOf } from "./folders.ts";

const MOST_KNOWN = 64, MOST_BYTES = 64 << 20, MOST_SUBMODULES = 2_000;
const AT_ONCE = 2_000;

interface IndexFacts {
  readonly submodules: readonly string[];
  readonly hashes: ReadonlyMap<string, Buffer>;
}

interface Wanted {
  readonly sha256: boolean;
  readonly files: readonly string[];
}

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
    const { shared, hashes, submodules } = await read(path, { sha256, files });
    // A file of a split index may have changed or disappeared by now, so it counts as not tracked.
    const base = shared === null ? null : await read(join(dirname(path), shared), { sha256, files: [] });
    const facts = { hashes, submodules: [...new Set([...submodules, ...base?.submodules ?? []])] };
    this.#known.set(path, { ...facts, stamp, names });
    return facts;
  }
}

async function read(
  path: string,
  { sha256, files }: Wanted,
): Promise<IndexFacts & { readonly shared: string | null }> {
  const size = Number(stampOf(path).split(",", 1)[0]);
  if (size > MOST_BYTES) {
    throw new Error(
      `Cannot find the submodules of a repository: ${path} has ${size} bytes; the limit is ${MOST_BYTES}`,
    );
  }
  const bytes = size > 0 ? await plainFile(path, { most: MOST_BYTES }).catch(() => null) : null;
  const index = new GitIndex(bytes ?? new Uint8Array(), { sha256 });
  const submodules: string[] = [], hashes = new Map<string, Buffer>(), wanted = new Set(files), pace = new Pace();
  let count = 0;
  for (const entry of index.entries()) {
    if (++count % AT_ONCE === 0 && pace.due) await pace.rest();
    if (entry.isSubmodule) {
      if (submodules.length < MOST_SUBMODULES) submodules.push(entry.name);
    } else if (wanted.size > 0 && wanted.has(entry.name)) hashes.set(entry.name, Buffer.from(entry.hash));
  }
  return { submodules, hashes, shared: index.shared };
}
