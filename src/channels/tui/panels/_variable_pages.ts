import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversation, StoredView } from "../../../conversation/conversations.ts";
import { type Records, type ShownVersion, versionText } from "../../../conversation/records.ts";
import { ago, localTime, oneLine } from "../../../domain/kit/text.ts";
import { fitted } from "../widgets/fitted.ts";
import { flat } from "../widgets/flat.ts";
import { paint } from "../widgets/paint.ts";
import type { PanelParts } from "../widgets/panel.ts";
import { Reader } from "../widgets/reader.ts";
import type { TextPart } from "../widgets/text_view.ts";

type Head = Awaited<ReturnType<StoredView["variables"]>>[number];

/** Limit of the shown part of a value or a difference. */
const SHOWN_CHARS = 200_000;
const PAGES = ["value", "code", "versions", "diff"] as const;
/** Most versions listed, in general and for large values. */
const LISTED = 40;
const LISTED_LARGE = 4;
const LARGE = 100_000;

interface Given {
  readonly theme: PanelParts["theme"];
  readonly branch: Conversation;
  readonly records: () => Records;
  readonly copy: (text: string) => void;
  /** Runs work in the background, then the function it returned. */
  readonly load: (work: () => Promise<() => void>) => void;
}

interface Page {
  /** What c copies. */
  readonly text: string;
  readonly parts: readonly TextPart[];
}

/** One variable: the value of a version, the code that made it, all its versions, and the difference from the previous
 * version or from a marked one. */
export class VariablePages {
  readonly reader: Reader;
  readonly #head: Head;
  readonly #given: Given;
  #page: typeof PAGES[number] = "value";
  #version: number;
  /** The version to compare with, instead of the previous one. */
  #marked: number | null = null;
  #shown: ShownVersion | null = null;
  /** What c copies. */
  #text = "";

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
    else if (data === "c") this.#given.copy(this.#text);
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
      const { shown, text, parts } = await this.#read(version, page);
      return () => {
        this.#shown = shown;
        this.#text = text;
        this.reader.text.show(parts);
      };
    });
  }

  async #read(
    version: number,
    page: typeof PAGES[number],
  ): Promise<{ readonly shown: ShownVersion | null; readonly text: string; readonly parts: readonly TextPart[] }> {
    const { branch, records } = this.#given;
    const { name, versions } = this.#head;
    if (page === "versions") return { shown: this.#shown, ...await this.#versions() };
    if (page === "diff") return { shown: this.#shown, ...await this.#diff(version) };
    // The store returns the newest ones: the requested one comes first.
    const [shown = null] = await records().versions(branch, { name, newest: versions - version + 1 });
    const text = shown === null ? "" : page === "code" ? shown.code : versionText(shown);
    return {
      shown,
      ...page === "code" && text === "" ? told("No block made it") : { text, parts: bounded(text, "plain") },
    };
  }

  async #diff(to: number): Promise<Page> {
    const from = this.#marked ?? to - 1;
    if (from < 1) return told("This is the first version; m marks a version to compare with others");
    if (from === to) return told("Marked: choose the version to compare with, using ←→");
    const { branch, records } = this.#given;
    const { text } = await records().diff(branch, { name: this.#head.name, from, to });
    return { text, parts: bounded(text, "diff") };
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
    return { text, parts: [{ text, look: "table" }] };
  }
}

function told(text: string): Page {
  return { text: "", parts: [{ text, look: "dim" }] };
}

function bounded(text: string, look: "plain" | "diff"): readonly TextPart[] {
  if (text.length <= SHOWN_CHARS) return [{ text, look }];
  const left = text.length - SHOWN_CHARS;
  const told = `… ${left.toLocaleString("en")} characters more are not shown; c copies all`;
  return [{ text: text.slice(0, SHOWN_CHARS), look }, { text: told, look: "dim" }];
}
