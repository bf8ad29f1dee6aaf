import { matchesKey } from "@earendil-works/pi-tui";
import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { ShownVersion } from "../../../conversation/records.ts";
import { versionText } from "../../../conversation/version_text.ts";
import { ago } from "./_ago.ts";
import { fitted } from "./_fitted.ts";
import { flat } from "./_flat.ts";
import { paint } from "./_paint.ts";
import { Reader } from "./_reader.ts";
import type { TextPart } from "./_text_view.ts";

type Head = Awaited<ReturnType<Conversations["variables"]>>[number];

/** More of a value, and of a difference, is not shown. */
const SHOWN_CHARS = 200_000;
const PAGES = ["value", "code", "diff"] as const;

interface Given {
  readonly branch: Conversation;
  readonly records: () => Conversations["records"];
  readonly copy: (text: string) => void;
  /** Runs the work in the background, then what it gave. */
  readonly load: (work: () => Promise<() => void>) => void;
}

/** One variable: the value of a version, the code that made it, and how it differs from the version before. */
export class VariablePages {
  readonly reader = new Reader();
  readonly #head: Head;
  readonly #given: Given;
  #page: typeof PAGES[number] = "value";
  #version: number;
  #shown: ShownVersion | null = null;
  /** What c copies. */
  #text = "";

  constructor(head: Head, given: Given) {
    this.#head = head;
    this.#given = given;
    this.#version = head.versions;
    this.#load();
  }

  get title(): string {
    const { name, versions } = this.#head;
    return `${flat(name, 60)} v${this.#version}${versions > 1 ? ` of ${versions}` : ""}`;
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
    if (page === "diff") {
      const none = {
        shown: this.#shown,
        text: "",
        parts: [{ text: "This is the first version", look: "dim" } as const],
      };
      if (version < 2) return none;
      const { text } = await records().diff(branch, { name, from: version - 1, to: version });
      return { shown: this.#shown, text, parts: bounded(text, "diff") };
    }
    // The store gives the newest ones: the one that is wanted comes first.
    const [shown = null] = await records().versions(branch, { name, newest: versions - version + 1 });
    const text = shown === null ? "" : page === "code" ? shown.code : versionText(shown);
    if (page === "code" && text === "") return { shown, text, parts: [{ text: "No block made it", look: "dim" }] };
    return { shown, text, parts: bounded(text, "plain") };
  }
}

function bounded(text: string, look: "plain" | "diff"): readonly TextPart[] {
  if (text.length <= SHOWN_CHARS) return [{ text, look }];
  const left = text.length - SHOWN_CHARS;
  const told = `… ${left.toLocaleString("en")} characters more are not shown; c copies all`;
  return [{ text: text.slice(0, SHOWN_CHARS), look }, { text: told, look: "dim" }];
}
