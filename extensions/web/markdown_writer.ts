import { ENDS, ENDS_PARAGRAPH, INLINE, isSkipped, languageOf, startOf, VOID } from "./element_rules.ts";
import { InlineText, type Mark } from "./inline_text.ts";
import { joinedBlocks, type TextBlock } from "./joined_blocks.ts";
import type { PageHandler } from "./page_tokens.ts";
import { TableText } from "./table_text.ts";

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  mark: Mark | null;
}

export interface PageLink {
  readonly text: string;
  readonly url: string;
}

const MAX_DEPTH = 256, MAX_LINKS = 1_000, MAX_LABEL = 300;
/** A main element with less text than this is ignored. */
const ENOUGH = 140;
const MARKERS: Readonly<Record<string, string>> = {
  b: "**",
  strong: "**",
  i: "*",
  em: "*",
  code: "`",
  kbd: "`",
  samp: "`",
  tt: "`",
  del: "~~",
  s: "~~",
};

/** Converts a page's tags to Markdown. The cost is bounded by the page's length, however it is nested. */
export class MarkdownWriter implements PageHandler {
  #base: URL;
  readonly #maxChars: number;
  readonly #stack: Element[] = [];
  /** How many elements of a name are open, so that the stack is searched only for one that is there. */
  readonly #open = new Map<string, number>();
  readonly #blocks: TextBlock[] = [];
  readonly #links = new Map<string, string>();
  readonly #inline = new InlineText();
  /** Prefixes of the enclosing lists and quotes: for the first line and for the others. */
  readonly #prefixes: { first: string; readonly rest: string; readonly owner: Element }[] = [];
  readonly #numbers: number[] = [];
  #skipped = 0;
  #rank = 0;
  #pre: string[] | null = null;
  #language = "";
  #table: TableText | null = null;
  #tables = 0;
  #title: string[] | null = null;
  #titleText = "";
  #chars = 0;
  #linkChars = 0;
  #cut = false;
  #hasBase = false;

  constructor({ base, maxChars }: { readonly base: URL; readonly maxChars: number }) {
    this.#base = base;
    this.#maxChars = maxChars;
  }

  get title(): string {
    return this.#titleText;
  }

  get truncated(): boolean {
    return this.#cut ||= this.#chars + this.#inline.size > this.#maxChars;
  }

  /** Links in the text, each address once. */
  links(): readonly PageLink[] {
    return [...this.#links].map(([url, text]) => ({ text, url }));
  }

  /** The main part if the page has one, else everything. */
  markdown(): string {
    while (this.#stack.length > 0) this.#pop();
    this.#flush();
    for (const rank of [2, 1]) {
      const blocks = this.#blocks.filter((block) => block.rank >= rank);
      if (blocks.reduce((sum, { text }) => sum + text.length, 0) >= ENOUGH) return joinedBlocks(blocks);
    }
    return joinedBlocks(this.#blocks);
  }

  text(text: string): void {
    if (this.#title) return void this.#title.push(text);
    if (this.#skipped > 0 || this.truncated) return;
    if (this.#pre) {
      this.#pre.push(text);
      this.#chars += text.length;
    } else {
      this.#inline.add(text);
    }
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#endOthers(name);
    if (VOID.has(name)) return this.#void(name, attributes);
    if (this.#stack.length >= MAX_DEPTH) return;
    if (!INLINE.has(name) && this.#skipped === 0) this.#break();
    const marker = this.#pre ? undefined : MARKERS[name];
    const marked = this.#skipped === 0 && (marker !== undefined || name === "a");
    const element = { name, attributes, mark: marked ? this.#inline.begin(marker) : null };
    this.#stack.push(element);
    this.#open.set(name, this.#openOf(name) + 1);
    if (isSkipped(name, attributes)) this.#skipped++;
    if (this.#skipped === 0) this.#enter(element);
  }

  close(name: string): void {
    if (name === "br" || name === "p" && this.#openOf("p") === 0) return this.#break();
    if (this.#openOf(name) === 0) return;
    const at = this.#stack.findLastIndex((one) => one.name === name);
    if (at < 0) return;
    while (this.#stack.length > at) this.#pop();
  }

  #openOf(name: string): number {
    return this.#open.get(name) ?? 0;
  }

  #endOthers(name: string): void {
    if (ENDS_PARAGRAPH.has(name)) this.#endOpen({ names: ["p"], within: ["td", "th", "table", "blockquote", "li"] });
    if (Object.hasOwn(ENDS, name)) this.#endOpen(ENDS[name]!);
  }

  #endOpen({ names, within }: { readonly names: readonly string[]; readonly within: readonly string[] }): void {
    if (!names.some((name) => this.#openOf(name) > 0)) return;
    const at = this.#stack.findLastIndex((one) => names.includes(one.name));
    if (this.#stack.findLastIndex((one) => within.includes(one.name)) > at) return;
    while (this.#stack.length > at) this.#pop();
  }

  #enter(element: Element): void {
    const { name, attributes } = element;
    if (name === "title" && this.#titleText === "") this.#title = [];
    else if (name === "main" || attributes.get("role") === "main") this.#rank += 1000;
    else if (name === "article") this.#rank += 1;
    else if (name === "pre") [this.#pre, this.#language] = [[], languageOf(attributes)];
    else if (name === "code" && this.#pre) this.#language ||= languageOf(attributes);
    else if (name === "ul" || name === "ol") this.#numbers.push(name === "ol" ? startOf(attributes) : -1);
    else if (name === "li") this.#prefixes.push({ ...this.#marker(), owner: element });
    else if (name === "blockquote") this.#prefixes.push({ first: "> ", rest: "> ", owner: element });
    else if (name === "table" && this.#tables++ === 0) this.#table = new TableText();
    else if (name === "tr" && this.#tables === 1) this.#table?.row();
  }

  #marker(): { first: string; readonly rest: string } {
    const number = this.#numbers.at(-1) ?? -1;
    if (number < 0) return { first: "- ", rest: "  " };
    this.#numbers[this.#numbers.length - 1] = number + 1;
    return { first: `${number}. `, rest: " ".repeat(`${number}. `.length) };
  }

  #pop(): void {
    const element = this.#stack.pop();
    if (!element) return;
    const { name, attributes, mark } = element;
    this.#open.set(name, this.#openOf(name) - 1);
    if (isSkipped(name, attributes)) return void this.#skipped--;
    if (this.#skipped > 0) return;
    if (name === "title" && this.#title) {
      this.#titleText = this.#title.join("").replace(/\s+/g, " ").trim().slice(0, MAX_LABEL);
      this.#title = null;
      return;
    }
    if (name === "a" && mark) this.#endLink(mark, attributes);
    else if (mark) this.#inline.marked(mark, MARKERS[name] ?? "");
    if (!INLINE.has(name)) this.#leave(element);
  }

  #leave(element: Element): void {
    const { name, attributes } = element;
    const heading = /^h([1-6])$/.exec(name)?.[1];
    if (this.#tables === 1 && (name === "td" || name === "th")) {
      return void this.#table?.cell(this.#inline.take(), attributes);
    }
    if (this.#tables === 1 && name === "caption") return void this.#table?.caption(this.#inline.take());
    if (name === "pre" && this.#pre) return this.#endPre();
    if (heading !== undefined && !this.#table) this.#flush(`${"#".repeat(Number(heading))} `);
    this.#break();
    if (name === "main" || attributes.get("role") === "main") this.#rank -= 1000;
    else if (name === "article") this.#rank -= 1;
    else if (name === "ul" || name === "ol") this.#numbers.pop();
    else if (name === "table" && this.#tables > 0 && --this.#tables === 0) this.#endTable();
    if (this.#prefixes.at(-1)?.owner === element) this.#prefixes.pop();
  }

  /** Returns the link's text. */
  #endLink(mark: Mark, attributes: ReadonlyMap<string, string>): string {
    const full = this.truncated;
    const url = full ? null : this.#resolved(attributes.get("href"));
    const label = this.#inline.linked(mark, url);
    if (url !== null && label !== "" && !this.#links.has(url) && this.#mayList) {
      this.#linkChars += url.length + Math.min(label.length, MAX_LABEL);
      this.#links.set(url, label.slice(0, MAX_LABEL));
    }
    return label;
  }

  get #mayList(): boolean {
    return this.#links.size < MAX_LINKS && this.#linkChars < this.#maxChars;
  }

  #endPre(): void {
    const code = (this.#pre ?? []).join("").replace(/^\r?\n/, "").trimEnd();
    this.#pre = null;
    if (!this.#table) this.#inline.take();
    if (code === "") return;
    const fence = "`".repeat(
      Math.max(3, ...[...code.matchAll(/`{3,}/g)].slice(0, 1000).map(([run]) => run.length + 1)),
    );
    this.#block(`${fence}${this.#language}\n${code}\n${fence}`);
  }

  #endTable(): void {
    for (const text of this.#table?.blocks() ?? []) this.#block(text);
    this.#table = null;
  }

  #void(name: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#skipped > 0 || this.truncated) return;
    if (name === "base") this.#setBase(attributes.get("href"));
    else if (name === "br") {
      if (this.#pre) this.#pre.push("\n");
      else this.#inline.raw(this.#table ? " " : "\n");
    } else if (name === "hr") {
      this.#break();
      if (!this.#table) this.#block("---");
    } else if (name === "img") {
      const alt = (attributes.get("alt") ?? "").replace(/\s+/g, " ").trim();
      const url = this.#resolved(attributes.get("src"));
      if (alt !== "" && url !== null) this.#inline.raw(`![${alt.slice(0, MAX_LABEL)}](${url})`);
    }
  }

  /** The first address counts, for all links of the page. */
  #setBase(href: string | undefined): void {
    if (href === undefined || this.#hasBase || !URL.canParse(href, this.#base)) return;
    this.#base = new URL(href, this.#base);
    this.#hasBase = true;
  }

  /** Null for links that lead to no other page: scripts, mail, data, anchors. */
  #resolved(href: string | undefined): string | null {
    const target = href?.trim() ?? "";
    if (target === "" || target.startsWith("#") || !URL.canParse(target, this.#base)) return null;
    const url = new URL(target, this.#base);
    return /^https?:$/.test(url.protocol) && url.href.length <= 2_000 ? url.href : null;
  }

  /** Ends a paragraph; in a cell, which has none, adds a blank. */
  #break(): void {
    if (this.#pre) return;
    if (this.#table) this.#inline.add(" ");
    else this.#flush();
  }

  #flush(prefix = ""): void {
    const link = this.#endMarks();
    const text = this.#inline.take();
    if (link) link.mark = this.#inline.begin();
    if (text !== "") this.#block(`${prefix}${prefix === "" ? text : text.replace(/\n/g, " ")}`);
  }

  /** Ends emphasis and links where a paragraph inside them does. Returns a link that has no text yet. */
  #endMarks(): Element | null {
    let link: Element | null = null;
    for (let at = this.#stack.length - 1; at >= 0; at--) {
      const element = this.#stack[at]!, { name, mark, attributes } = element;
      if (!mark) continue;
      element.mark = null;
      if (name !== "a") this.#inline.marked(mark, MARKERS[name] ?? "");
      else if (this.#endLink(mark, attributes) === "") link = element;
    }
    return link;
  }

  #block(text: string): void {
    const rest = this.#prefixes.map((one) => one.rest).join("");
    const first = this.#prefixes.map((one) => one.first).join("");
    for (const one of this.#prefixes) one.first = one.rest;
    const lines: string[] = [];
    // Prefixes count for every line: many nested quotes make each line much longer.
    const left = Math.max(0, this.#maxChars - this.#chars);
    for (const line of text.slice(0, left).split("\n")) {
      if (this.#chars > this.#maxChars) break;
      const whole = `${lines.length === 0 ? first : rest}${line}`.trimEnd();
      this.#chars += whole.length + 1;
      lines.push(whole);
    }
    this.#cut ||= text.length > left || this.#chars > this.#maxChars;
    if (left === 0) return;
    this.#blocks.push({ text: lines.join("\n"), rank: this.#rank >= 1000 ? 2 : Math.min(1, this.#rank) });
  }
}
