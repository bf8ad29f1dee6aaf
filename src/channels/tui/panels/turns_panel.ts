import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversations } from "../../../conversation/conversations.ts";
import { ago } from "../../../domain/kit/text.ts";
import { BlockTally, storedDiffs } from "../../../domain/query/host_call.ts";
import { aboutText, spentOn } from "../../../domain/query/model_call.ts";
import { reasonText } from "../../../domain/query/outcomes.ts";
import { ONLY_ANSWERS } from "../../../domain/query/query_progress.ts";
import { changedPaths } from "../../../domain/query/work_summary.ts";
import { amounts, flat } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { filterInput, List, type Movement, movement, row } from "./widgets.ts";

export abstract class TurnsPanel extends BasePanel {
  protected readonly turns: TurnList;
  readonly #input = filterInput("words of a request");
  #loaded = false;

  constructor(parts: PanelParts) {
    super(parts);
    this.turns = new TurnList((query, range) =>
      this.load(`${query.queryId} ${range.after}`, {
        work: () => readSteps(parts.session().conversations, { queryId: query.queryId, ...range }),
        then: (steps) => this.turns.add(query, steps),
      }), () => this.begins);
    this.#read();
  }

  protected abstract readonly empty: string;
  protected abstract choose(item: TurnItem): void;
  protected get begins(): "request" | "step" {
    return "step";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#loaded && this.turns.queries.length === 0) return [this.status(this.empty)];
    const empty = this.turns.list.items.length === 0;
    const below = this.below(this.#loaded && empty ? "  no request has these words" : "", { empty });
    return [...this.#input.render(width), ...this.turns.list.render(width, height - 1 - below.length), ...below];
  }

  protected override key(data: string): void {
    const moved = movement(data);
    const item = this.turns.list.selected;
    if (moved !== null) this.turns.move(moved);
    else if (matchesKey(data, "ctrl+r")) this.#read();
    else if (item !== undefined && matchesKey(data, "enter")) this.choose(item);
    else if (item !== undefined && matchesKey(data, "right")) this.turns.unfold(item.query);
    else if (item !== undefined && matchesKey(data, "left")) this.turns.fold(item.query);
    else if (this.#input.handle(data)) this.turns.filter(this.#input.value);
  }

  protected override click(line: number): void {
    const { list } = this.turns;
    if (list.press(line - 1) && list.selected) this.choose(list.selected);
  }

  #read(): void {
    const branch = this.parts.branch();
    if (branch === null) this.#loaded = true;
    else {
      this.load("queries", {
        work: () => this.parts.session().conversations.queries(branch),
        then: (queries) => {
          this.#loaded = true;
          this.turns.set(queries);
        },
      });
    }
  }
}

export type Query = Awaited<ReturnType<Conversations["queries"]>>[number];

export type TurnItem =
  | { readonly kind: "query"; readonly query: Query; readonly number: number }
  | { readonly kind: "step"; readonly query: Query; readonly step: IterationSummary }
  | { readonly kind: "earlier"; readonly query: Query; readonly before: number };

const PAGE = 60;

type Read = (query: Query, range: { readonly after: number; readonly limit: number }) => void;

class TurnList {
  readonly list: List<TurnItem>;
  readonly #read: Read;
  readonly #begins: () => "request" | "step";
  #queries: readonly Query[] = [];
  #words: readonly string[] = [];
  readonly #steps = new Map<string, readonly IterationSummary[]>();
  readonly #open = new Set<string>();

  constructor(read: Read, begins: () => "request" | "step") {
    this.#read = read;
    this.#begins = begins;
    this.list = new List<TurnItem>({ key: keyOf, draw: (item, place) => [this.#drawn(item, place)] });
  }

  get queries(): readonly Query[] {
    return this.#queries;
  }

  set(queries: readonly Query[]): void {
    this.#queries = queries;
    this.#steps.clear();
    const last = queries.at(-1);
    this.#fill("last");
    if (last) this.unfold(last);
  }

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

  add(query: Query, found: readonly IterationSummary[]): void {
    const known = this.#steps.get(query.queryId) ?? [];
    const fresh = found.filter(({ position }) => !known.some((one) => one.position === position));
    const selected = this.list.selected;
    this.#steps.set(query.queryId, [...known, ...fresh].toSorted((a, b) => a.position - b.position));
    this.#fill("kept");
    const wasNewest = this.#begins() === "step" && selected?.kind === "query" &&
      selected.query.queryId === query.queryId && known.length === 0;
    const wasEarlier = selected?.kind === "earlier" && selected.query.queryId === query.queryId;
    const last = found.at(-1);
    if (last && (wasEarlier || wasNewest && query === this.#queries.at(-1))) this.list.select(last.iterationId);
  }

  move(movement: Movement): void {
    this.list.move(movement);
    const item = this.list.selected;
    if (item?.kind === "earlier") this.#ask(item.query, item.before);
  }

  #ask(query: Query, before: number): void {
    const after = Math.max(-1, before - PAGE - 1);
    // A running query may have more iterations than its row has.
    const limit = before >= query.iterations && query.running ? PAGE * 2 : before - after - 1;
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
    const request = items.findLast(({ kind }) => kind === "query");
    if (from === "last" && this.#begins() === "request" && request) this.list.select(keyOf(request));
  }

  #drawn(item: TurnItem, place: { readonly width: number; readonly selected: boolean }): string {
    if (item.kind === "earlier") return row(`    … ${amounts.count(item.before, "earlier step")}`, place);
    if (item.kind === "step") return row(`    ${item.step.name}`, { facts: item.step.facts, ...place });
    const { query, number } = item;
    const files = query.work?.files ?? 0;
    const facts = [
      query.status === "interrupted" ? reasonText(query.reason) : query.status === "done" ? "" : query.status,
      ago(query.createdAt, Date.now()),
      amounts.count(query.iterations, "step"),
      files === 0 ? "" : amounts.count(files, "file"),
      query.costUsd === null || query.costUsd === 0 ? "" : `${aboutText(query.usage)}${amounts.cost(query.costUsd)}`,
    ];
    return row(`${this.isOpen(query) ? "▾" : "▸"} ${number} ${flat(query.text)}`, { facts, ...place });
  }
}

function keyOf(item: TurnItem): string {
  if (item.kind === "step") return item.step.iterationId;
  return item.kind === "query" ? item.query.queryId : `before ${item.query.queryId}`;
}

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

interface IterationSummary {
  readonly iterationId: string;
  readonly position: number;
  readonly name: string;
  readonly facts: readonly string[];
}

async function readSteps(
  conversations: Conversations,
  { queryId, after, limit }: { readonly queryId: string; readonly after: number; readonly limit: number },
): Promise<readonly IterationSummary[]> {
  return (await conversations.iterations(queryId, { after, limit })).map(step);
}

const ENDS: Readonly<Record<string, string>> = {
  final: "answered",
  refused: "answer refused",
  failed: "failed",
  empty: "nothing to run",
  running: "running",
};

function step(iteration: StoredIteration): IterationSummary {
  const { iterationId, position, metadata, status, traces, blocks, thinking, error } = iteration;
  const outcome = typeof metadata["outcome"] === "string" ? metadata["outcome"] : status;
  const pending = metadata["pendingBlocks"];
  const calls = BlockTally.of(blocks.flatMap(({ result }) => result.calls));
  const isRefused = outcome === "failed" && calls.refused && !calls.failed;
  const code = blocks[0]?.code ?? (Array.isArray(pending) ? String(pending[0] ?? "") : "");
  const shownCode = ONLY_ANSWERS.test(code.trim()) ? "" : code;
  const about = [calls.text, shownCode, error ?? "", thinking].find((text) => text.trim() !== "") ?? "";
  const words = [isRefused ? "" : ENDS[outcome] ?? "", flat(about, 300)].filter((text) => text !== "").join(" · ");
  const files = new Set(storedDiffs(metadata).flatMap(changedPaths)).size;
  const { usage } = spentOn(traces);
  const cost = metadata["costUsd"];
  const ms = [...traces.map((one) => one.ms), ...blocks.map(({ result }) => result.ms)].reduce((a, b) => a + b, 0);
  return {
    iterationId,
    position,
    name: `${position + 1} ${words}`,
    facts: [
      files === 0 ? "" : amounts.count(files, "file"),
      amounts.time(ms),
      usage.input + usage.output === 0
        ? ""
        : `${aboutText(usage)}${usage.input.toLocaleString("en")} in ${usage.output.toLocaleString("en")} out`,
      typeof cost === "number" && cost > 0 ? `${aboutText(usage)}${amounts.cost(cost)}` : "",
    ],
  };
}

export class ForkPicker extends TurnsPanel {
  readonly title = "Fork";
  readonly hint = "Enter forks here · → expands · ^R reloads · Esc";
  protected readonly empty = "  nothing to fork yet: send a request first";

  protected override choose(item: TurnItem): void {
    if (item.kind === "step") return this.#fork(item.query, item.step.position);
    const { query } = item;
    if (item.kind === "earlier") return this.turns.move("up");
    this.load("end", {
      work: () => {
        const { conversations } = this.parts.session();
        return readSteps(conversations, { queryId: query.queryId, after: query.iterations - 2, limit: 10 });
      },
      then: (steps) => {
        const last = steps.at(-1);
        if (last) this.#fork(query, last.position);
        else this.fail(new Error("Cannot fork here: this request has no step; choose another request"));
      },
    });
  }

  #fork({ queryId }: Query, position: number): void {
    this.leaveFor(() => this.parts.act.fork({ queryId, position }));
  }
}
