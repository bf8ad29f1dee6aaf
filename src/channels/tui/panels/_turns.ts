import type { Conversations } from "../../../conversation/conversations.ts";
import { amounts } from "../text/amounts.ts";
import { flat } from "../widgets/flat.ts";
import { List } from "../widgets/list.ts";
import type { Movement } from "../widgets/movement.ts";
import { row } from "../widgets/row.ts";
import type { IterationSummary } from "./_step.ts";

export type Query = Awaited<ReturnType<Conversations["queries"]>>[number];

export type TurnItem =
  | { readonly kind: "query"; readonly query: Query; readonly number: number }
  | { readonly kind: "step"; readonly query: Query; readonly step: IterationSummary }
  /** Placeholder for earlier iterations, which are read when it is selected. */
  | { readonly kind: "earlier"; readonly query: Query; readonly before: number };

/** Iterations read at once. */
const PAGE = 60;

/** Reads iterations of a query. */
type Read = (query: Query, range: { readonly after: number; readonly limit: number }) => void;

/** The queries of a branch, with the iterations of unfolded ones: the newest are read first, earlier ones when they are
 * selected. */
export class TurnList {
  readonly list: List<TurnItem>;
  readonly #read: Read;
  #queries: readonly Query[] = [];
  #words: readonly string[] = [];
  readonly #steps = new Map<string, readonly IterationSummary[]>();
  readonly #open = new Set<string>();

  constructor(read: Read) {
    this.#read = read;
    this.list = new List<TurnItem>({ key: keyOf, draw: (item, place) => [this.#drawn(item, place)] });
  }

  get queries(): readonly Query[] {
    return this.#queries;
  }

  /** The newest query is unfolded. */
  set(queries: readonly Query[]): void {
    this.#queries = queries;
    this.#steps.clear();
    const last = queries.at(-1);
    this.#fill("last");
    if (last) this.unfold(last);
  }

  /** Keeps only queries that contain all of these words. */
  filter(text: string): void {
    this.#words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
    this.#fill("last");
  }

  unfold(query: Query): void {
    this.#open.add(query.queryId);
    if (!this.#steps.has(query.queryId)) this.#ask(query, query.iterations);
    this.#fill("kept");
  }

  fold(query: Query): void {
    this.#open.delete(query.queryId);
    this.list.select(query.queryId);
    this.#fill("kept");
  }

  isOpen(query: Query): boolean {
    return this.#open.has(query.queryId);
  }

  /** Adds the iterations that `read` returned. */
  add(query: Query, found: readonly IterationSummary[]): void {
    const known = this.#steps.get(query.queryId) ?? [];
    const fresh = found.filter(({ position }) => !known.some((one) => one.position === position));
    const selected = this.list.selected;
    this.#steps.set(query.queryId, [...known, ...fresh].toSorted((a, b) => a.position - b.position));
    this.#fill("kept");
    const wasNewest = selected?.kind === "query" && selected.query.queryId === query.queryId && known.length === 0;
    const wasEarlier = selected?.kind === "earlier" && selected.query.queryId === query.queryId;
    const last = found.at(-1);
    if (last && (wasEarlier || wasNewest && query === this.#queries.at(-1))) this.list.select(last.iterationId);
  }

  move(movement: Movement): void {
    this.list.move(movement);
    const item = this.list.selected;
    if (item?.kind === "earlier") this.#ask(item.query, item.before);
  }

  /** The page of iterations before this position. */
  #ask(query: Query, before: number): void {
    const after = Math.max(-1, before - PAGE - 1);
    // A running query may have more iterations than its row reports.
    const limit = before >= query.iterations ? PAGE * 2 : before - after - 1;
    this.#read(query, { after, limit });
  }

  #fill(from: "kept" | "last"): void {
    const fits = ({ text }: Query): boolean => {
      const low = text.toLowerCase();
      return this.#words.every((word) => low.includes(word));
    };
    const items = this.#queries.flatMap((query, at): TurnItem[] => {
      if (!fits(query)) return [];
      const head: TurnItem = { kind: "query", query, number: at + 1 };
      if (!this.#open.has(query.queryId)) return [head];
      const steps = this.#steps.get(query.queryId) ?? [];
      const before = steps[0]?.position ?? 0;
      return [
        head,
        ...(before > 0 ? [{ kind: "earlier", query, before } as const] : []),
        ...steps.map((one): TurnItem => ({ kind: "step", query, step: one })),
      ];
    });
    this.list.set(items, { from });
  }

  #drawn(item: TurnItem, place: { readonly width: number; readonly selected: boolean }): string {
    if (item.kind === "earlier") return row(`    … ${amounts.count(item.before, "earlier step")}`, place);
    if (item.kind === "step") return row(`    ${item.step.name}`, { facts: item.step.facts, ...place });
    const { query, number } = item;
    const facts = [
      query.status,
      amounts.count(query.iterations, "step"),
      query.costUsd === null || query.costUsd === 0 ? "" : amounts.cost(query.costUsd),
    ];
    return row(`${this.isOpen(query) ? "▾" : "▸"} ${number} ${flat(query.text)}`, { facts, ...place });
  }
}

function keyOf(item: TurnItem): string {
  if (item.kind === "step") return item.step.iterationId;
  return item.kind === "query" ? item.query.queryId : `before ${item.query.queryId}`;
}
