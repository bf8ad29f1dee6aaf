import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversation, StoredView } from "../../../conversation/conversations.ts";
import { type Records, type ShownVersion, versionText } from "../../../conversation/stored_conversations.ts";
import { ago, localTime, oneLine } from "../../../domain/kit/text.ts";
import { fitted, flat, paint } from "../text/one_line.ts";
import { BasePanel, type PanelParts } from "./panel.ts";
import { Reader, type TextPart } from "./reader.ts";
import { filterInput, List, movement, row } from "./widgets.ts";

type Head = Awaited<ReturnType<StoredView["variables"]>>[number];

const DOC_COLUMNS = 90;

export class VariableBrowser extends BasePanel {
  override readonly rows = 60;
  readonly #branch: Conversation | null;
  readonly #input = filterInput("name of a variable");
  readonly #list = new List<Head>({ key: ({ name }) => name, draw: drawn });
  #heads: readonly Head[] | null = null;
  #all = false;
  #pages: VariablePages | null = null;

  constructor(parts: PanelParts) {
    super(parts);
    const branch = this.#branch = parts.branch();
    if (branch === null) this.#heads = [];
    else {
      this.load("variables", {
        work: () => parts.session().conversations.stored.variables(branch.branchId),
        then: (heads) => {
          this.#heads = heads;
          this.#fill("first");
        },
      });
    }
  }

  get title(): string {
    return this.#pages?.title ?? (this.#all ? "Variables, all" : "Variables");
  }

  get hint(): string {
    if (this.#pages !== null) return "Tab page · ←→ version · m mark · / find · c copy · Esc";
    return "type to find · Enter shows · Tab all · Esc";
  }

  protected override draw({ width, height }: { readonly width: number; readonly height: number }): readonly string[] {
    if (this.#pages !== null) return this.#pages.render(width, { height, status: this.status() });
    const { items, selected } = this.#list;
    const noted = width < DOC_COLUMNS && items.some(({ summary }) => summary.doc !== "");
    const told = flat(selected?.summary.doc ?? "");
    const doc = told !== "" ? `  // ${told}` : " ";
    const below = this.below(items.length === 0 ? this.#nothing() : noted ? doc : "", { empty: items.length === 0 });
    return [...this.#input.render(width), ...this.#list.render(width, height - 1 - below.length), ...below];
  }

  protected override back(): void {
    if (this.#pages === null) return this.close();
    if (!this.#pages.reader.back()) this.#pages = null;
  }

  protected override key(data: string): void {
    if (this.#pages !== null) return this.#pages.key(data);
    const moved = movement(data);
    if (moved !== null) this.#list.move(moved);
    else if (matchesKey(data, "enter")) this.#show();
    else if (matchesKey(data, "tab")) {
      this.#all = !this.#all;
      this.#fill("kept");
    } else if (this.#input.handle(data)) this.#fill("first");
  }

  protected override get clickable(): boolean {
    return this.#pages === null;
  }

  protected override click(line: number): void {
    if (this.#list.press(line - 1)) this.#show();
  }

  #nothing(): string {
    if (this.#heads === null) return "";
    if (this.#heads.some((head) => this.#all || head.scope === "live")) return "  no variable with this name";
    return this.#heads.length > 0 ? "  no current variables; Tab shows all" : "  no variables yet";
  }

  #fill(from: "kept" | "first"): void {
    const words = this.#input.value.toLowerCase().split(/\s+/);
    const fits = ({ name, summary: { doc } }: Head): boolean => {
      const low = `${name} ${doc}`.toLowerCase();
      return words.every((word) => low.includes(word));
    };
    this.#list.set((this.#heads ?? []).filter((head) => (this.#all || head.scope === "live") && fits(head)), { from });
  }

  #show(): void {
    const head = this.#list.selected;
    if (head === undefined || this.#branch === null) return;
    const { parts } = this;
    this.#pages = new VariablePages(head, {
      branch: this.#branch,
      theme: parts.theme,
      records: () => parts.session().conversations.records,
      copy: (text) => parts.act.copy(text),
      load: (work) => this.load("page", { work, then: (apply) => apply() }),
    });
  }
}

function drawn(
  { name, kind, versions, scope, summary, reason }: Head,
  place: { readonly width: number; readonly selected: boolean },
): readonly string[] {
  const { size, type, shape, inline, doc } = summary;
  const about = reason === "" ? flat(inline ?? shape) : `lost: ${flat(reason)}`;
  const facts = [
    scope === "live" ? kind === "data" ? flat(type, 20) : kind : scope,
    versions === 1 ? "" : `v${versions}`,
    size === null ? "" : size.toLocaleString("en"),
  ];
  const line = row(`${flat(name, 80)}${about === "" ? "" : ` = ${about}`}`, { facts, ...place });
  const noted = doc !== "" && place.width >= DOC_COLUMNS;
  return noted ? [line, `    ${paint.dim(`// ${flat(doc)}`)}`] : [line];
}

const SHOWN_CHARS = 200_000;
const PAGES = ["value", "code", "versions", "diff"] as const;
const LISTED = 40;
const LISTED_LARGE = 4;
const LARGE = 100_000;

interface Given {
  readonly theme: PanelParts["theme"];
  readonly branch: Conversation;
  readonly records: () => Records;
  readonly copy: (text: string) => void;
  readonly load: (work: () => Promise<() => void>) => void;
}

interface Page {
  readonly copied: () => string;
  readonly parts: readonly TextPart[];
}

class VariablePages {
  readonly reader: Reader;
  readonly #head: Head;
  readonly #given: Given;
  #page: typeof PAGES[number] = "value";
  #version: number;
  #marked: number | null = null;
  #shown: ShownVersion | null = null;
  #copied: Page["copied"] = () => "";

  constructor(head: Head, given: Given) {
    this.reader = new Reader(given.theme);
    this.#head = head;
    this.#given = given;
    this.#version = head.versions;
    this.#load();
  }

  get title(): string {
    const { name, versions } = this.#head;
    const marked = this.#marked === null ? "" : ` · v${this.#marked} marked`;
    return `${flat(name, 60)} v${this.#version}${versions > 1 ? ` of ${versions}` : ""}${marked}`;
  }

  render(width: number, { height, status }: { readonly height: number; readonly status: string }): readonly string[] {
    const tabs = PAGES.map((page) => page === this.#page ? paint.inverse(` ${page} `) : paint.dim(` ${page} `)).join(
      "",
    );
    const about = status === "" ? paint.dim(fitted(this.#about(), { width })) : status;
    return [tabs, about, ...this.reader.render(width, height - 2)];
  }

  key(data: string): void {
    if (this.reader.handle(data)) return;
    if (matchesKey(data, "tab")) this.#turn(1);
    else if (matchesKey(data, "shift+tab")) this.#turn(-1);
    else if (matchesKey(data, "left")) this.#go(-1);
    else if (matchesKey(data, "right")) this.#go(1);
    else if (data === "c") this.#given.copy(this.#copied());
    else if (data === "m") {
      this.#marked = this.#marked === this.#version ? null : this.#version;
      if (this.#page === "diff") this.#load();
    }
  }

  #about(): string {
    const { kind, summary, reason } = this.#head;
    const shown = this.#shown;
    if (shown === null) return `${kind} · ${flat(summary.shape)}`;
    const facts = [shown.kind, flat(shown.shape), `${ago(shown.createdAt, Date.now())} ago`, flat(summary.doc)];
    return facts.filter((fact) => fact !== "" && fact !== "now ago").join(" · ") + (reason && ` · ${flat(reason)}`);
  }

  #turn(by: 1 | -1): void {
    const at = (PAGES.indexOf(this.#page) + by + PAGES.length) % PAGES.length;
    this.#page = PAGES[at] ?? "value";
    this.#load();
  }

  #go(by: 1 | -1): void {
    const next = this.#version + by;
    if (next < 1 || next > this.#head.versions) return;
    this.#version = next;
    this.#load();
  }

  #load(): void {
    const [version, page] = [this.#version, this.#page];
    this.reader.text.show([]);
    this.#given.load(async () => {
      const { shown, copied, parts } = await this.#read(version, page);
      return () => {
        this.#shown = shown;
        this.#copied = copied;
        this.reader.text.show(parts);
      };
    });
  }

  async #read(
    version: number,
    page: typeof PAGES[number],
  ): Promise<Page & { readonly shown: ShownVersion | null }> {
    const { branch, records } = this.#given;
    const { name, versions } = this.#head;
    if (page === "versions") return { shown: this.#shown, ...await this.#versions() };
    if (page === "diff") return { shown: this.#shown, ...await this.#diff(version) };
    // The store returns the newest versions in order, so the wanted version comes first.
    const [shown = null] = await records().versions(branch, { name, newest: versions - version + 1 });
    if (shown === null) return { shown, copied: () => "", parts: bounded("", "plain") };
    if (page === "value") {
      const isText = typeof shown.shown?.value === "string";
      const text = versionText(shown, isText ? Infinity : 2 * SHOWN_CHARS);
      return { shown, copied: () => versionText(shown, Infinity), parts: bounded(text, "plain", { isWhole: isText }) };
    }
    const { code } = shown;
    if (code === "") return { shown, ...told("No block set this version") };
    return { shown, copied: () => code, parts: bounded(code, "plain") };
  }

  async #diff(to: number): Promise<Page> {
    const from = this.#marked ?? to - 1;
    if (from < 1) return told("This is the first version; m marks a version to compare with others");
    if (from === to) return told("Marked: choose the version to compare with, using ←→");
    const { branch, records } = this.#given;
    const { text } = await records().diff(branch, { name: this.#head.name, from, to });
    return { copied: () => text, parts: bounded(text, "diff") };
  }

  async #versions(): Promise<Page> {
    const { branch, records } = this.#given;
    const { name, versions, summary: { size } } = this.#head;
    const newest = (size ?? 0) > LARGE ? LISTED_LARGE : LISTED;
    const found = await records().versions(branch, { name, newest });
    const lines = found.toReversed().map(({ version, createdAt, shape, reason, code }) => {
      const when = localTime(createdAt, "second");
      const facts = [when, shape, reason, oneLine(code, 200)].filter((fact) => fact !== "");
      return `${`v${version}`.padEnd(11)} ${facts.join(" · ")}`;
    });
    const earlier = versions - found.length;
    const text = [...lines, ...earlier > 0 ? [`${" ".repeat(12)}and ${earlier} earlier`] : []].join("\n");
    return { copied: () => text, parts: [{ text, look: "table" }] };
  }
}

function told(text: string): Page {
  return { copied: () => "", parts: [{ text, look: "dim" }] };
}

function bounded(text: string, look: "plain" | "diff", { isWhole = true } = {}): readonly TextPart[] {
  if (text.length <= SHOWN_CHARS) return [{ text, look }];
  const left = isWhole ? `${(text.length - SHOWN_CHARS).toLocaleString("en")} characters more are` : "the rest is";
  const told = `… ${left} not shown; c copies all`;
  return [{ text: text.slice(0, SHOWN_CHARS), look }, { text: told, look: "dim" }];
}
