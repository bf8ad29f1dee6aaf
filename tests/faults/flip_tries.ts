import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StoreError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { type Filled, fillForFlips } from "./_flip_database.ts";
import { type Flip, flips, pageKinds } from "./_flip_places.ts";
import { allReads, bytesIn, digestOf, type Read } from "./_flip_reads.ts";
import { askAgain, seenBySandbox } from "./_flip_uses.ts";

export interface FlipOptions {
  readonly count: number;
  readonly seed: number;
  /** A folder for the databases, which the caller removes. */
  readonly folder: string;
  /** The number of different reads in each try; by default all of them. */
  readonly reads?: number;
  /** A real sandbox restores variables once in this many tries; by default never. */
  readonly sandboxEvery?: number;
  /** Keeps a database with a wrong or unclear result next to the others. */
  readonly keep?: boolean;
}

export interface FlipReport {
  readonly tries: number;
  /** The tries with a value or long text that was never stored. */
  readonly wrong: number;
  /** The tries in which another cell differs from its stored content, as in any program on SQLite. */
  readonly other: number;
  /** The tries with an error that does not report the damage and a remedy. */
  readonly unclear: number;
  readonly refused: number;
  readonly unharmed: number;
  readonly examples: readonly string[];
  readonly byKind: ReadonlyMap<string, { readonly tries: number; readonly refused: number }>;
}

type Outcome = "wrong" | "unclear" | "other" | "refused" | "unharmed";
const MAX_EXAMPLES = 20;

/** Changes one bit or byte of a copy of a database and reads everything with the real store, in each try. A value of a
 * variable must be a stored one, and an error must report the damage. Other different cells are counted apart. Then it
 * asks another query and reads again. */
export async function flipTries(options: FlipOptions): Promise<FlipReport> {
  const { count, seed, folder, keep = false } = options;
  const sound = join(folder, "sound.db");
  const filled = await fillForFlips(sound, seed);
  const { known, stored } = await pictureOf(sound, filled);
  const bytes = await readFile(sound);
  const next = random(seed);
  const tally = { tries: 0, wrong: 0, unclear: 0, other: 0, refused: 0, unharmed: 0 };
  const examples: string[] = [];
  const byKind = new Map<string, { tries: number; refused: number }>();
  const path = join(folder, "harmed.db");
  for (const flip of flips(pageKinds(sound), { count, next })) {
    await harm(path, bytes, flip);
    const { outcome, why } = await tried(path, {
      ...options,
      filled,
      known,
      stored,
      next,
      sandbox: isTurn(options, tally),
    });
    tally.tries++;
    tally[outcome]++;
    const kind = byKind.get(flip.kind) ?? { tries: 0, refused: 0 };
    byKind.set(flip.kind, { tries: kind.tries + 1, refused: kind.refused + (outcome === "unharmed" ? 0 : 1) });
    if (outcome !== "wrong" && outcome !== "unclear") continue;
    if (examples.length < MAX_EXAMPLES) examples.push(`${outcome}: ${placeOf(flip)}: ${why}`);
    if (keep) await harm(join(folder, `${outcome}-${tally.tries}.db`), bytes, flip);
  }
  return { ...tally, examples, byKind };
}

function isTurn({ sandboxEvery = 0 }: FlipOptions, { tries }: { readonly tries: number }): boolean {
  return sandboxEvery > 0 && tries % sandboxEvery === 0;
}

interface Known extends Read {
  readonly digests: ReadonlySet<string>;
}

interface Picture {
  readonly known: readonly Known[];
  readonly stored: ReadonlySet<string>;
}

async function pictureOf(path: string, filled: Filled): Promise<Picture> {
  const copy = `${path}.read`;
  await copyFile(path, copy);
  const store = await openStore({ path: copy });
  const known: Known[] = [];
  const stored = new Set<string>();
  for (const read of await allReads(store, filled)) {
    const value = await read.run(store);
    known.push({ ...read, digests: new Set(digests(read, value)) });
    for (const digest of bytesIn(value)) stored.add(digest);
  }
  await store.close();
  return { known, stored };
}

function digests({ some = false }: Read, value: unknown): readonly string[] {
  return some && Array.isArray(value) ? value.map(digestOf) : [digestOf(value)];
}

async function harm(path: string, bytes: Uint8Array, { offset, mask }: Flip): Promise<void> {
  const copy = new Uint8Array(bytes);
  copy[offset] = (copy[offset] ?? 0) ^ mask;
  await writeFile(path, copy);
  for (const end of ["-wal", "-shm"]) await Deno.remove(`${path}${end}`).catch(() => undefined);
}

interface Try {
  readonly filled: Filled;
  readonly known: readonly Known[];
  readonly stored: ReadonlySet<string>;
  readonly reads?: number;
  readonly next: () => number;
  readonly sandbox: boolean;
}

interface Judged {
  readonly outcome: Outcome;
  readonly why: string;
}

const UNHARMED: Judged = { outcome: "unharmed", why: "" };

async function tried(
  path: string,
  { filled, known, stored, reads: some = Infinity, next, sandbox }: Try,
): Promise<Judged> {
  let store: Store;
  try {
    store = await openStore({ path });
  } catch (error) {
    return judged(error, "open");
  }
  const all = chosen(known, { some, next });
  const found = [await readAll(store, all, stored)];
  const { branchIds } = filled;
  const branchId = branchIds[next() % branchIds.length] ?? "";
  found.push(await askAgain(store, branchId).then(() => UNHARMED, (error: unknown) => judged(error, "one more query")));
  found.push(await readAll(store, all.filter(({ stays }) => stays), stored));
  if (sandbox) {
    found.push(
      await seenBySandbox(store, filled).then(
        (seen) => seen.found === seen.known ? UNHARMED : { outcome: "other", why: `the sandbox sees ${seen.found}` },
        (error: unknown) => judged(error, "sandbox"),
      ),
    );
  }
  await store.close().catch(() => undefined);
  return found.reduce(worse);
}

async function readAll(store: Store, reads: readonly Known[], stored: ReadonlySet<string>): Promise<Judged> {
  let result: Judged = UNHARMED;
  for (const read of reads) {
    const { name, run, digests: known } = read;
    const found: Judged = await run(store).then(
      (value) =>
        digests(read, value).every((one) => known.has(one))
          ? UNHARMED
          : { outcome: isStored(value, stored) ? "other" : "wrong", why: `${name} gave something else` },
      (error: unknown) => judged(error, name),
    );
    result = worse(result, found);
    if (result.outcome === "wrong") break;
  }
  return result;
}

function isStored(value: unknown, stored: ReadonlySet<string>): boolean {
  return bytesIn(value).every((digest) => stored.has(digest));
}

function worse(one: Judged, other: Judged): Judged {
  return RANK.indexOf(other.outcome) > RANK.indexOf(one.outcome) ? other : one;
}

const RANK: readonly Outcome[] = ["unharmed", "refused", "other", "unclear", "wrong"];

/** The error is the store's, of a damaged file, with a remedy. Or it names the failed action, for a row that no longer
 * leads to another one. */
function judged(error: unknown, name: string): Judged {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const isRefused = error instanceof StoreError && error.code === "corrupt" && /damaged/.test(message) &&
    /vis db check/.test(message);
  const isSaid = error instanceof Error && error.message.startsWith("Cannot ");
  return { outcome: isRefused ? "refused" : isSaid ? "other" : "unclear", why: `${name}: ${message}` };
}

function chosen(all: readonly Known[], { some, next }: { readonly some: number; readonly next: () => number }) {
  if (some >= all.length) return all;
  const start = next() % all.length, step = 1 + Math.floor(all.length / some);
  return Array.from({ length: some }, (_, at) => all[(start + at * step) % all.length]).filter((one) =>
    one !== undefined
  );
}

function placeOf({ kind, offset, mask }: Flip): string {
  return `${kind}, page ${1 + Math.floor(offset / 4096)} byte ${offset % 4096} mask ${mask}`;
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = state + 0x6d2b79f5 | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = word + Math.imul(word ^ (word >>> 7), 61 | word) ^ word;
    return (word ^ (word >>> 14)) >>> 0;
  };
}
