import { visibleWidth } from "@earendil-works/pi-tui";
import { counted, elapsedText, visibleText } from "../../../domain/kit/text.ts";
import { MORE_TEXT, reasonText, stoppedText, takesMore } from "../../../domain/query/outcomes.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import { FAILED, notesBelow } from "../../../domain/query/work_summary.ts";
import type { Session } from "../../channel.ts";
import { MarkdownText } from "../text/markdown_text.ts";
import { amounts, fitted } from "../text/one_line.ts";
import { moreLines, wrapped } from "../text/wrapped.ts";
import { type DisplayOptions, DrawnEntry, LineEntry } from "./entry.ts";

export class RequestEntry extends DrawnEntry {
  readonly isLandmark = true;
  readonly #text: string;
  readonly #label: string;
  readonly #shown: () => DisplayOptions;

  constructor(text: string, { label = "", shown }: { readonly label?: string; readonly shown: () => DisplayOptions }) {
    super();
    this.#text = text;
    this.#label = label;
    this.#shown = shown;
  }

  protected draw(width: number): readonly string[] {
    return requestLines(this.#text, { label: this.#label, width, shown: this.#shown() });
  }
}

const HEAD = 8, TAIL = 6;
const WHOLE = 4_000;

export function requestLines(
  text: string,
  { label, width, shown: { theme, whole } }: {
    readonly label: string;
    readonly width: number;
    readonly shown: DisplayOptions;
  },
): readonly string[] {
  const lines = wrapped(text.trimEnd(), width - 2, { most: WHOLE }).map(theme.bold);
  const more = whole ? 0 : lines.length - HEAD - TAIL;
  if (more > 1) lines.splice(HEAD, more, theme.dim(fitted(moreLines(more, { most: HEAD }), { width: width - 2 })));
  return [
    ...(label === "" ? [] : [theme.dim(label.slice(0, width))]),
    ...lines.map((line, index) => theme.said(padded(`${index === 0 ? theme.accent("›") : " "} ${line}`, width))),
    "",
  ];
}

function padded(line: string, width: number): string {
  return line + " ".repeat(Math.max(0, width - visibleWidth(line)));
}

export class AnswerEntry extends DrawnEntry {
  readonly isLandmark = true;
  readonly #shown: () => DisplayOptions;
  #markdown: MarkdownText | null = null;
  #text = "";
  #plain = false;
  #draft = true;

  constructor(shown: () => DisplayOptions) {
    super();
    this.#shown = shown;
  }

  append(delta: string): void {
    this.#text += delta;
    this.#markdown?.append(delta);
    this.grown();
  }

  settle(text: string, { plain = false }: { readonly plain?: boolean } = {}): void {
    this.#plain = plain;
    if (!this.#draft && text.startsWith(this.#text)) this.#markdown?.append(text.slice(this.#text.length));
    else this.#markdown = null;
    this.#draft = false;
    this.#text = text;
    super.invalidate();
  }

  override invalidate(): void {
    this.#markdown = null;
    super.invalidate();
  }

  protected draw(width: number): readonly string[] {
    if (this.#text === "") return [];
    if (this.#plain) return [...wrapped(this.#text, width), ""];
    if (this.#markdown === null) {
      const { theme } = this.#shown();
      this.#markdown = new MarkdownText(theme, this.#draft ? { whole: false, look: theme.faded } : {});
      this.#markdown.append(this.#text);
    }
    return [...this.#markdown.lines(width), ""];
  }
}

type Facts = Pick<QueryResult, "status" | "iterations" | "ms" | "usage" | "costUsd" | "confidence">;
type End = Facts & Pick<QueryResult, "queryId" | "reason" | "notes" | "noAnswer" | "work">;

const GO_ON = "Write “continue”, or press Alt-R to start it over";

export class EndEntry extends DrawnEntry {
  readonly #result: End;
  readonly #shown: () => DisplayOptions;

  constructor(result: End, shown: () => DisplayOptions) {
    super();
    this.#result = result;
    this.#shown = shown;
  }

  protected draw(width: number): readonly string[] {
    return endLines(this.#result, { width, shown: this.#shown() }).lines(width);
  }
}

function endLines(
  result: End,
  { width, shown: { theme, undone, whole } }: { readonly width: number; readonly shown: DisplayOptions },
): LineEntry {
  const { reason, status } = result;
  const why = status === "interrupted" ? reasonText(reason) : stoppedText(result);
  if (reason === "forked") return new LineEntry([why, theme.warn]);
  const undo = undone.has(result.queryId) ? "undone · /redo" : "/undo";
  const fit = (line: string, after: string): string =>
    fittedFiles(visibleText(line), width - visibleWidth(after)) + after;
  const told = { undo, fit: whole ? (line: string, after: string) => line + after : fit, more: whole ? "" : "Ctrl-O" };
  const paint = (note: string): readonly [string, typeof theme.dim] => [
    note,
    note.startsWith(FAILED) ? theme.bad : theme.dim,
  ];
  // The steps of a cancelled request already show the commands that the cancellation ended.
  if (reason === "cancelled") {
    const notes = result.work?.files
      ? notesBelow(result, told)
      : result.notes.filter((note) => note !== result.work?.text);
    return new LineEntry(
      ...notes.map(paint),
      [`${why} · ${endLine(result)}`, theme.warn],
    );
  }
  const how = takesMore(reason) ? `Alt-M: ${MORE_TEXT}` : reason === "process_lost" ? GO_ON : "";
  return new LineEntry(
    ...([[why, theme.warn], [how, theme.accent]] as const).filter(([text]) => text !== ""),
    ...notesBelow(result, told).map(paint),
    [endLine(result), status === "error" ? theme.bad : theme.dim],
  );
}

function fittedFiles(line: string, width: number): string {
  const [, head = "", list = ""] = /^(\d+ files? changed [^(]*\()(.*)\)$/.exec(line) ?? [];
  const names = list.split(", "), [, left = "0"] = /^(\d+) more$/.exec(names.at(-1) ?? "") ?? [];
  if (left !== "0") names.pop();
  for (let count = names.length - 1; count > 0 && visibleWidth(line) > width; count--) {
    const shown = [...names.slice(0, count), `${Number(left) + names.length - count} more`].join(", ");
    if (visibleWidth(`${head}${shown})`) <= width) return `${head}${shown})`;
  }
  return fitted(line, { width });
}

export function endLine({ status, iterations, ms, usage, costUsd, confidence }: Facts): string {
  return [
    // A lost request can have neither steps nor a time.
    ...(iterations === 0 && ms === 0 ? [] : [counted(iterations, "step"), elapsedText(ms)]),
    ...amounts.spent({ usage, costUsd }),
    ...(status === "done" && confidence !== null && confidence !== "high" ? [`${confidence} confidence`] : []),
  ].join(" · ");
}

const HINTS = [
  "Ask for anything in this folder, such as: What does this project do?",
  "/ lists the commands, @ names a file, ! runs a command, ? shows all keys.",
  "Esc stops a request, Ctrl-D quits; vis -c continues here later.",
];

export class Greeting extends DrawnEntry {
  readonly #parts: { readonly session: () => Pick<Session, "provider">; readonly shown: () => DisplayOptions };

  constructor(parts: { readonly session: () => Pick<Session, "provider">; readonly shown: () => DisplayOptions }) {
    super();
    this.#parts = parts;
  }

  protected draw(width: number): readonly string[] {
    const { theme } = this.#parts.shown();
    const { provider } = this.#parts.session();
    const hints = HINTS.flatMap((hint) => wrapped(hint, Math.max(1, width - 2)));
    const demo = provider === "demo"
      ? wrapped("This is the demo: scripted replies, no model. /model chooses one.", Math.max(1, width - 2))
      : [];
    return [
      ` ${theme.accent(theme.bold("vis"))}`,
      ...hints.map((line) => ` ${theme.dim(line)}`),
      ...demo.map((line) => ` ${theme.warn(line)}`),
      "",
    ];
  }
}
