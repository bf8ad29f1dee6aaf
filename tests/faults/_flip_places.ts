import { DatabaseSync } from "node:sqlite";

const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;

export interface Flip {
  /** The kind has the form "table or index: sort of page". */
  readonly kind: string;
  readonly offset: number;
  readonly mask: number;
}

/** Returns the pages of a database by their contents. Each table and index has inner pages, leaves and overflow pages.
 * Other pages are empty, or have the header of the file. */
export function pageKinds(path: string): ReadonlyMap<string, readonly number[]> {
  using db = new DatabaseSync(path, { readOnly: true });
  const kinds = new Map<string, number[]>();
  const used = new Set<number>();
  const add = (kind: string, page: number) => {
    const pages = kinds.get(kind);
    if (pages) pages.push(page);
    else kinds.set(kind, [page]);
  };
  for (const { name, pagetype, pageno } of db.prepare("SELECT name, pagetype, pageno FROM dbstat").all()) {
    used.add(Number(pageno));
    add(`${String(name)}: ${String(pagetype)}`, Number(pageno));
  }
  const count = Number(db.prepare("PRAGMA page_count").get()?.page_count);
  for (let page = 1; page <= count; page++) if (!used.has(page)) add("free", page);
  add("header", 1);
  return kinds;
}

/** Yields a place in a page of each kind in turn, beginning at any of them. Every third place is in the page's header
 * or its list of cells. */
export function* flips(
  kinds: ReadonlyMap<string, readonly number[]>,
  { count, next }: { readonly count: number; readonly next: () => number },
): Generator<Flip> {
  const names = [...kinds.keys()];
  const start = next() % names.length;
  for (let at = start; at < start + count; at++) {
    const kind = names[at % names.length] ?? "";
    const pages = kinds.get(kind) ?? [];
    const page = pages[next() % pages.length] ?? 1;
    const from = kind !== "header" && page === 1 ? HEADER_BYTES : 0;
    const within = kind === "header" ? HEADER_BYTES : next() % 3 === 0 ? 64 : PAGE_BYTES - from;
    const offset = (page - 1) * PAGE_BYTES + from + next() % within;
    const mask = next() % 4 === 0 ? 1 + next() % 255 : 1 << next() % 8;
    yield { kind, offset, mask };
  }
}
