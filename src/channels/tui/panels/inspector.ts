import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversations } from "../../../conversation/conversations.ts";
import { localTime } from "../../../domain/kit/text.ts";
import { aboutText, type SentMessage, spentOn } from "../../../domain/query/model_call.ts";
import { shownRange } from "../../../domain/query/stored_query.ts";
import { amounts } from "../text/one_line.ts";
import { Reader, type TextPart } from "./reader.ts";
import { type Query, type TurnItem, TurnsPanel } from "./turns_panel.ts";

export class Inspector extends TurnsPanel {
  protected readonly empty = "  nothing has been sent yet";
  override readonly rows = 200;
  readonly #reader = new Reader();
  #open: { readonly query: Query; readonly position: number; readonly parts: readonly TextPart[] } | null = null;

  get title(): string {
    if (this.#open === null) return "What was sent";
    const { query, position } = this.#open;
    const number = this.turns.queries.findIndex(({ queryId }) => queryId === query.queryId) + 1;
    return `Request ${number} · step ${position + 1} of ${Math.max(query.iterations, position + 1)}`;
  }

  get hint(): string {
    if (this.#open === null) return "Enter shows · → expands · ^R reloads · Esc";
    return "Tab part · ←→ step · / find · c copy part · C all · Esc";
  }

  protected override draw(place: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#open === null) return super.draw(place);
    const status = this.status();
    const below = status === "" ? [] : [status];
    return [...this.#reader.render(place.width, place.height - below.length), ...below];
  }

  protected override back(): void {
    if (this.#open === null) this.close();
    else if (!this.#reader.back()) this.#open = null;
  }

  protected override key(data: string): void {
    if (this.#open === null) return super.key(data);
    if (this.#reader.handle(data)) return;
    const { text } = this.#reader;
    if (matchesKey(data, "tab")) this.#part(text.part + 1);
    else if (matchesKey(data, "shift+tab")) this.#part(text.part - 1);
    else if (matchesKey(data, "left")) this.#read(this.#open.query, this.#open.position - 1);
    else if (matchesKey(data, "right")) this.#read(this.#open.query, this.#open.position + 1);
    else if (data === "c") this.#copy(this.#open.parts.slice(text.part, text.part + 1));
    else if (data === "C") this.#copy(this.#open.parts);
  }

  protected override get clickable(): boolean {
    return this.#open === null;
  }

  protected override choose(item: TurnItem): void {
    if (item.kind === "earlier") return this.turns.move("up");
    if (item.kind === "step") return this.#read(item.query, item.step.position);
    if (this.turns.isOpen(item.query)) this.turns.fold(item.query);
    else this.turns.unfold(item.query);
  }

  #part(part: number): void {
    const count = this.#open?.parts.length ?? 0;
    if (count > 0) this.#reader.text.go((part + count) % count);
  }

  #read(query: Query, position: number): void {
    if (position < 0 || position >= shownRange(query).limit) return;
    const { conversations } = this.parts.session();
    this.load("iteration", {
      work: async () => {
        const [[iteration], messages] = await Promise.all([
          conversations.iterations(query.queryId, { after: position - 1, limit: 1 }),
          conversations.sentMessages(query.queryId, position),
        ]);
        return iteration === undefined ? null : sentParts(iteration, messages ?? []);
      },
      then: (parts) => {
        if (parts === null) return;
        const part = this.#open === null ? 0 : this.#reader.text.part;
        this.#open = { query, position, parts };
        this.#reader.text.show(parts);
        if (part > 0) this.#reader.text.go(Math.min(part, parts.length - 1));
      },
    });
  }

  #copy(parts: readonly TextPart[]): void {
    const text = parts.length === 1
      ? parts[0]?.text ?? ""
      : parts.map(({ head, text }) => `=== ${head}\n${text}\n`).join("\n");
    this.parts.act.copy(text);
  }
}

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

function sentParts(iteration: StoredIteration, messages: readonly SentMessage[]): readonly TextPart[] {
  const { response, thinking, error } = iteration;
  const part = (head: string, text: string): readonly TextPart[] => text === "" ? [] : [{ head, text }];
  return [
    { head: "Facts", text: stepTable(iteration), look: "table" },
    ...messages.flatMap(({ role, text }, at) =>
      part(`Message ${at + 1} of ${messages.length}: ${role} · ${size(text)}`, text)
    ),
    ...part(`Reply as received · ${size(response)}`, response),
    ...part("Thinking", thinking),
    ...part("Error", error ?? ""),
  ];
}

function size(text: string): string {
  const tokens = Math.ceil(text.length / 4).toLocaleString("en");
  return `${amounts.bytes(new TextEncoder().encode(text).length)}, about ${tokens} tokens`;
}

type Row = readonly [name: string, text: string];

function stepTable(iteration: StoredIteration): string {
  const { metadata, status, createdAt } = iteration;
  const rows: readonly Row[] = [
    ["outcome", textOf(metadata["outcome"]) || status],
    ["began", localTime(createdAt, "second")],
    ...models(iteration),
    ["tokens", tokens(iteration)],
    ["cost", cost(iteration)],
    ["request", typeof metadata["requestBytes"] === "number" ? amounts.bytes(metadata["requestBytes"]) : ""],
    ["budget", textOf(metadata["budget"])],
    ...blocks(iteration),
    ["walls", walls(metadata["walls"])],
    ...grants(metadata["grants"]),
    ["extensions", extensions(metadata["extensions"])],
    ...listOf(metadata["notes"]).map((note): Row => ["note", textOf(note)]),
  ];
  return rows.filter(([, text]) => text !== "").map(([name, text]) => `${name.padEnd(11)} ${text}`).join("\n");
}

function models({ traces }: StoredIteration): readonly Row[] {
  return traces.map(({ provider, model, ok, ms, status, error, repairs }): Row => {
    const end = ok ? "ok" : error ?? (status === null ? "failed" : String(status));
    const mended = repairs.length === 0 ? "" : ` · repaired: ${repairs.join("; ")}`;
    return ["model", `${provider}/${model} · ${amounts.time(ms)} · ${end}${mended}`];
  });
}

function tokens({ traces }: StoredIteration): string {
  const { usage } = spentOn(traces);
  const { input, output, cached, cacheWrite = 0, reasoning } = usage;
  if (input + output === 0) return "not counted";
  const [read, wrote] = [part(cached, "from the cache"), part(cacheWrite, "written to it")];
  return `${aboutText(usage)}${input.toLocaleString("en")} in${inside([read, wrote])}, ${
    output.toLocaleString("en")
  } out${inside([part(reasoning, "reasoning")])}`;
}

function cost({ traces, metadata: { costUsd } }: StoredIteration): string {
  if (typeof costUsd !== "number") return "price unknown";
  return `${aboutText(spentOn(traces).usage)}${amounts.cost(costUsd)}`;
}

const part = (count: number, what: string): string => count > 0 ? `${count.toLocaleString("en")} ${what}` : "";

function inside(parts: readonly string[]): string {
  const told = parts.filter((one) => one !== "");
  return told.length === 0 ? "" : ` (${told.join(", ")})`;
}

function blocks({ blocks }: StoredIteration): readonly Row[] {
  return blocks.map(({ result: { outcome, ms, calls } }, at): Row => {
    const names = calls.slice(0, 5).map(({ name, ms, ok, outcome }) => {
      return `${ok ? "" : "✗ "}${name} ${amounts.time(ms)}${outcome ? ` (${outcome})` : ""}`;
    }).join(", ");
    const called = calls.length === 0
      ? ""
      : ` · ${amounts.count(calls.length, "call")}: ${names}${calls.length > 5 ? " …" : ""}`;
    return [`block ${at + 1}`, `${outcome} · ${amounts.time(ms)}${called}`];
  });
}

function walls(value: unknown): string {
  const facts = fieldsOf(value);
  if (facts.size === 0) return "";
  const kernel = fieldsOf(facts.get("kernel"));
  const landlock = Number(kernel.get("landlock") ?? 0);
  const held: readonly (readonly [string, boolean])[] = [
    ...["realm", "permissions", "process"].map((name) => [name, facts.get(name) === true] as const),
    [landlock > 0 ? `files (Landlock ${landlock})` : "files", landlock > 0],
    ["calls (seccomp)", kernel.get("seccomp") === true],
  ];
  return held.map(([name, holds]) => `${name} ${holds ? "✓" : "✗"}`).join("  ");
}

function grants(value: unknown): readonly Row[] {
  const given = [...fieldsOf(value)].filter(([, list]) => listOf(list).length > 0);
  if (given.length === 0) return value === undefined || value === null ? [] : [["grants", "nothing"]];
  return given.map(([kind, list]): Row => ["grants", `${kind}: ${listOf(list).map(textOf).join(", ")}`]);
}

function extensions(value: unknown): string {
  return listOf(value).map((one) => {
    const facts = fieldsOf(one);
    return facts.size === 0 ? textOf(one) : `${textOf(facts.get("namespace"))} ${textOf(facts.get("version"))}`.trim();
  }).join(", ");
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
