import { type PageHandler, readTokens } from "./page_tokens.ts";

export interface PageText {
  readonly title: string;
  readonly text: string;
  readonly links: readonly PageLink[];
  readonly truncated: boolean;
}

export async function pageMarkdown(
  page: string,
  { url, maxChars, signal }: {
    readonly url: URL;
    readonly maxChars: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<PageText> {
  const writer = new MarkdownWriter({ base: url, maxChars });
  await readTokens(page, writer, { signal });
  const text = writer.markdown();
  return { title: writer.title, text, links: writer.links(), truncated: writer.truncated };
}

interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  mark: Mark | null;
}

interface PageLink {
  readonly text: string;
  readonly url: string;
}

const MAX_DEPTH = 256, MAX_LINKS = 1_000, MAX_LABEL = 300;
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

class MarkdownWriter implements PageHandler {
  #base: URL;
  readonly #maxChars: number;
  readonly #stack: Element[] = [];
  readonly #open = new Map<string, number>();
  readonly #blocks: TextBlock[] = [];
  readonly #links = new Map<string, string>();
  readonly #inline = new InlineText();
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

  links(): readonly PageLink[] {
    return [...this.#links].map(([url, text]) => ({ text, url }));
  }

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

  #setBase(href: string | undefined): void {
    if (href === undefined || this.#hasBase || !URL.canParse(href, this.#base)) return;
    this.#base = new URL(href, this.#base);
    this.#hasBase = true;
  }

  #resolved(href: string | undefined): string | null {
    const target = href?.trim() ?? "";
    if (target === "" || target.startsWith("#") || !URL.canParse(target, this.#base)) return null;
    const url = new URL(target, this.#base);
    return /^https?:$/.test(url.protocol) && url.href.length <= 2_000 ? url.href : null;
  }

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
    // Nested quotes make each line much longer, so prefixes count for every line.
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

const VOID: ReadonlySet<string> = new Set(
  "area base basefont br col embed frame hr img input keygen link meta param source track wbr".split(" "),
);

const SKIPPED: ReadonlySet<string> = new Set(
  "script style noscript template svg iframe object canvas audio video button select textarea dialog nav footer aside noembed noframes"
    .split(" "),
);
const SKIPPED_ROLES: ReadonlySet<string> = new Set(
  "navigation banner contentinfo search dialog alertdialog menu menubar toolbar tooltip".split(" "),
);

const INLINE: ReadonlySet<string> = new Set(
  [
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q rp rt ruby s samp small span",
    "strike strong sub sup time tt u var wbr meter output picture progress slot",
    "math annotation mfrac mi mn mo mover mroot mrow ms mspace msqrt mstyle msub msubsup msup mtext munder munderover",
    "semantics script style noscript template svg iframe object canvas audio video button select textarea",
  ].join(" ").split(" "),
);

const ENDS: Readonly<Record<string, { readonly names: readonly string[]; readonly within: readonly string[] }>> = {
  li: { names: ["li"], within: ["ul", "ol"] },
  dt: { names: ["dt", "dd"], within: ["dl"] },
  dd: { names: ["dt", "dd"], within: ["dl"] },
  tr: { names: ["tr"], within: ["table"] },
  td: { names: ["td", "th"], within: ["tr", "table"] },
  th: { names: ["td", "th"], within: ["tr", "table"] },
  a: { names: ["a"], within: ["td", "th", "table"] },
  option: { names: ["option"], within: ["select"] },
  body: { names: ["head"], within: [] },
};
const ENDS_PARAGRAPH: ReadonlySet<string> = new Set(
  "p h1 h2 h3 h4 h5 h6 div section article main header footer aside nav ul ol dl table pre blockquote form figure hr"
    .split(" "),
);

function isSkipped(name: string, attributes: ReadonlyMap<string, string>): boolean {
  return SKIPPED.has(name) || attributes.has("hidden") || attributes.get("aria-hidden") === "true" ||
    SKIPPED_ROLES.has(attributes.get("role") ?? "");
}

function languageOf(attributes: ReadonlyMap<string, string>): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#-]{1,30})/.exec(attributes.get("class") ?? "")?.[1] ?? "";
}

function startOf(attributes: ReadonlyMap<string, string>): number {
  const start = attributes.get("start") ?? "1";
  return /^\d{1,6}$/.test(start) ? Number(start) : 1;
}

class InlineText {
  #parts: string[] = [];
  #ink = 0;
  #spaceAtEnd = true;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(text: string): void {
    const collapsed = text.replace(/[\s\u200b]+/g, " ");
    const shown = this.#spaceAtEnd ? collapsed.replace(/^ /, "") : collapsed;
    if (shown !== "") this.raw(shown);
  }

  raw(text: string): void {
    this.#parts.push(text);
    this.#size += text.length;
    if (text.trim() !== "") this.#ink += text.length;
    this.#spaceAtEnd = /\s$/.test(text);
  }

  get length(): number {
    return this.#ink;
  }

  begin(marker = ""): Mark {
    const mark = { at: this.#parts.length, ink: this.#ink, spaceBefore: this.#spaceAtEnd };
    if (marker !== "") this.#parts.push(marker);
    this.#size += marker.length;
    return mark;
  }

  marked(mark: Mark, marker: string): void {
    if (this.#ink === mark.ink) return void this.#cut(mark);
    const last = this.#parts.at(-1) ?? "";
    this.#size += marker.length + 1;
    this.#parts[this.#parts.length - 1] = last.trimEnd();
    this.#parts.push(marker, ...(last.trimEnd() === last ? [] : [" "]));
  }

  linked(mark: Mark, href: string | null): string {
    if (this.#ink === mark.ink || this.#parts.length < mark.at) return "";
    const parts = this.#parts.splice(mark.at);
    const text = parts.join("");
    const label = text.trim();
    this.#size += href?.length ?? 0;
    if (href === null) this.#parts.push(text);
    else this.#parts.push(`${/^\s/.test(text) ? " " : ""}[${label}](${href})${/\s$/.test(text) ? " " : ""}`);
    return label;
  }

  take(): string {
    const text = this.#parts.join("").replace(/ *\n */g, "\n").trim();
    this.#parts = [];
    this.#ink = 0;
    this.#size = 0;
    this.#spaceAtEnd = true;
    return text;
  }

  #cut(mark: Mark): void {
    const blank = this.#parts.length > mark.at + 1;
    this.#parts.length = Math.min(this.#parts.length, mark.at);
    this.#spaceAtEnd = mark.spaceBefore;
    if (blank) this.add(" ");
  }
}

interface Mark {
  readonly at: number;
  readonly ink: number;
  readonly spaceBefore: boolean;
}

const LONG_CELL = 400, MAX_ROWS = 2_000, MAX_CELLS = 50, MAX_REPEATED = 100_000;

class TableText {
  readonly #rows: string[][] = [];
  readonly #cells: string[] = [];
  readonly #reaching: { readonly text: string; rows: number }[] = [];
  #caption = "";
  #left = 0;
  #repeated = 0;

  caption(text: string): void {
    this.#caption ||= text;
  }

  row(): void {
    if (this.#rows.length === MAX_ROWS) return void this.#left++;
    this.#rows.push([]);
    this.#fill();
  }

  cell(text: string, attributes: ReadonlyMap<string, string>): void {
    if (this.#rows.length === 0) this.row();
    const row = this.#rows.at(-1);
    if (!row || this.#left > 0) return;
    this.#cells.push(text);
    const across = spanOf(attributes.get("colspan")), down = spanOf(attributes.get("rowspan"));
    for (let column = 0; column < across && row.length < MAX_CELLS; column++) {
      const shown = column === 0 ? text : "";
      this.#reaching[row.length] = { text: shown, rows: down - 1 };
      row.push(shown);
    }
    this.#fill();
  }

  blocks(): readonly string[] {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ""));
    const width = Math.max(0, ...rows.map((row) => row.length));
    const around = (blocks: readonly string[]): readonly string[] =>
      [this.#caption, ...blocks, this.#left > 0 ? `[${this.#left} more rows]` : ""].filter((text) => text !== "");
    if (width <= 1 || rows.length === 1 || rows.some((row) => row.some((cell) => cell.length > LONG_CELL))) {
      return around(this.#cells);
    }
    const [head = [], ...rest] = rows.map((row) => lineOf(row, width));
    return around([[head, lineOf(Array<string>(width).fill("---"), width), ...rest].join("\n")]);
  }

  #fill(): void {
    const row = this.#rows.at(-1) ?? [];
    for (let above = this.#reaching[row.length]; above && above.rows > 0; above = this.#reaching[row.length]) {
      above.rows--;
      this.#repeated += above.text.length;
      row.push(this.#repeated > MAX_REPEATED ? "" : above.text);
    }
  }
}

function spanOf(value = ""): number {
  return /^\d{1,4}$/.test(value) ? Number(value) || 1 : 1;
}

function lineOf(row: readonly string[], width: number): string {
  const cells = Array.from(
    { length: width },
    (_, at) => (row[at] ?? "").replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|"),
  );
  return `| ${cells.join(" | ")} |`;
}

interface TextBlock {
  readonly text: string;
  readonly rank: number;
}

function joinedBlocks(blocks: readonly TextBlock[]): string {
  let text = "";
  let last = "";
  for (const block of blocks) {
    const tight = isItem(last) && isItem(block.text);
    text += text === "" ? block.text : `${tight ? "\n" : "\n\n"}${block.text}`;
    last = block.text;
  }
  return text;
}

const isItem = (text: string): boolean => /^[\s>]*(?:-|\d{1,9}\.) /.test(text);
