import { harmlessText } from "../../../domain/text/harmless_text.ts";
import { inlineMarkdown } from "./inline_markdown.ts";
import { RichText, type TextStyle } from "./rich_text.ts";

const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)[-*+]\s+(?:\[([ xX])\]\s+)?(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
/** Wider tables are shown one row per line: a phone would break their columns. */
const TABLE_CHARS = 60;

interface Reading {
  readonly lines: readonly string[];
  readonly into: RichText;
}

/** Renders a Markdown answer for Telegram; what Telegram has no format for becomes readable text. */
export function renderMarkdown(markdown: string): RichText {
  const lines = harmlessText(markdown.toWellFormed()).replace(/\s+$/, "").split("\n");
  const into = new RichText();
  for (let at = 0; at < lines.length;) {
    if (at > 0) into.add("\n");
    at = block({ lines, into }, at);
  }
  return into;
}

/** Adds the block that begins at a line and returns the line after it. */
function block(reading: Reading, at: number): number {
  const { lines, into } = reading;
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) return code(reading, { at, fence: fence[1] ?? "", language: fence[2] ?? "" });
  if (QUOTE.test(line)) return quote(reading, at);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    return table(reading, at);
  }
  textLine(line, { into, spans: [] });
  return at + 1;
}

function textLine(
  line: string,
  { into, spans }: { readonly into: RichText; readonly spans: readonly TextStyle[] },
): void {
  const heading = HEADING.exec(line);
  if (heading) return inlineMarkdown(heading[2] ?? "", { into, spans: [...spans, { type: "bold" }] });
  if (RULE.test(line)) return void into.add("———", spans);
  const item = ITEM.exec(line);
  if (!item) return inlineMarkdown(line, { into, spans });
  const [, indent = "", task, rest = ""] = item;
  const bullet = task === undefined ? "•" : task === " " ? "☐" : "☑";
  into.add(`${indent}${bullet} `, spans);
  inlineMarkdown(rest, { into, spans });
}

function code(
  { lines, into }: Reading,
  { at, fence, language }: { readonly at: number; readonly fence: string; readonly language: string },
): number {
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? "").trim().startsWith(fence)) end++;
  into.add(lines.slice(at + 1, end).join("\n"), [language === "" ? { type: "pre" } : { type: "pre", language }]);
  return end + 1;
}

/** One level only: nested quotes are lines of the outer one. */
function quote({ lines, into }: Reading, at: number): number {
  const spans: readonly TextStyle[] = [{ type: "blockquote" }];
  let end = at;
  for (; end < lines.length && QUOTE.test(lines[end] ?? ""); end++) {
    if (end > at) into.add("\n", spans);
    textLine((lines[end] ?? "").replace(QUOTE, ""), { into, spans });
  }
  return end;
}

function table({ lines, into }: Reading, at: number): number {
  const rows: (readonly string[])[] = [];
  let end = at;
  for (; end < lines.length && (lines[end] ?? "").includes("|"); end++) {
    if (end !== at + 1) rows.push(cellsOf(lines[end] ?? ""));
  }
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, n) => Math.max(...rows.map((row) => (row[n] ?? "").length)));
  const narrow = widths.reduce((sum, width) => sum + width + 2, 0) <= TABLE_CHARS;
  const text = rows.map((row, n) => {
    const cells = narrow ? widths.map((width, m) => (row[m] ?? "").padEnd(width)) : row;
    const shown = cells.join(narrow ? "  " : " · ").trimEnd();
    return narrow && n === 0 ? `${shown}\n${widths.map((width) => "─".repeat(width)).join("  ")}` : shown;
  });
  into.add(text.join("\n"), narrow ? [{ type: "pre" }] : []);
  return end;
}

/** Cells without their marks, since column widths count characters. */
function cellsOf(line: string): readonly string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => plain(cell.trim().replaceAll("\\|", "|")));
}

function plain(cell: string): string {
  const into = new RichText();
  inlineMarkdown(cell, { into });
  return into.runs.map(({ text }) => text).join("");
}
