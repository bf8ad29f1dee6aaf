import { counted, visibleText } from "../../domain/kit/text.ts";
import { type DiffFile, type DiffLine, diffTitle, parseDiff } from "../parse_diff.ts";
import type { TerminalPaint } from "./paint.ts";
import { cutRuns, type Run, textColumns, wrapRuns } from "./wrap.ts";

export const SHOWN_DIFF_LINES = 40;
const MAX_LINE = 1_000;
/** A question shows the whole change, because any part of the change may be a reason to refuse. */
export const WHOLE_DIFF = { most: Infinity, longest: Infinity } as const;
const TAB = "    ";
const LEAST_WIDTH = 10;

interface DiffPlace {
  readonly width: number;
  readonly paint: TerminalPaint;
  readonly columns?: (text: string) => number;
  readonly most?: number;
  readonly longest?: number;
  readonly more?: (count: number) => string;
}

export function diffLines(diff: string, place: DiffPlace): readonly string[] {
  const { most = SHOWN_DIFF_LINES, more = (count) => `… ${counted(count, "more line")}` } = place;
  return parseDiff(diff).flatMap((file) => {
    const shown = file.lines.slice(0, most);
    const rest = file.lines.length - shown.length;
    return [
      ...headLines(file, place),
      ...bodyLines(shown, place),
      ...rest > 0 ? wrapRuns([{ text: more(rest), paint: place.paint.mark }], wrapping(place)) : [],
    ];
  });
}

function wrapping({ width, columns = textColumns }: DiffPlace) {
  return { width: Math.max(1, width), columns };
}

function headLines(file: DiffFile, place: DiffPlace): readonly string[] {
  const { spans } = place.paint;
  if (file.path === "") return [];
  const counts: Run[] = [
    ...file.added > 0 ? [{ text: ` +${file.added}`, paint: spans.added }] : [],
    ...file.removed > 0 ? [{ text: ` −${file.removed}`, paint: spans.removed }] : [],
  ];
  return wrapRuns([{ text: visibleText(diffTitle(file)), paint: spans.file }, ...counts], wrapping(place));
}

const SIGNS = { added: "+", removed: "-", same: " " } as const;

function bodyLines(lines: readonly DiffLine[], place: DiffPlace): readonly string[] {
  const { paint, longest = MAX_LINE } = place;
  const { width, columns } = wrapping(place);
  const digits = Math.max(0, ...lines.map((line) => "number" in line ? String(line.number).length : 0));
  const isWide = width - digits - 3 >= LEAST_WIDTH;
  const margin = isWide ? digits + 3 : 2;
  return lines.flatMap((line) => {
    if (line.kind === "gap") return [paint.mark(`${" ".repeat(isWide ? Math.max(0, digits - 1) : 0)}⋯`)];
    if (line.kind === "note") {
      return wrapRuns([{ text: visibleText(line.text), paint: paint.mark }], { width, columns });
    }
    const sign = SIGNS[line.kind];
    const style = line.kind === "same" ? paint.spans.plain : paint.spans[line.kind];
    const changed = line.kind === "same" ? style : paint.changed[line.kind];
    const rows = cutRuns(runsOf(line, { style, changed, longest }), { width: Math.max(1, width - margin), columns });
    return rows.map((row, at) => {
      const number = !isWide
        ? ""
        : `${paint.mark(at === 0 ? String(line.number).padStart(digits) : " ".repeat(digits))} `;
      return `${number}${at === 0 ? style(sign) : " "} ${row}`.trimEnd();
    });
  });
}

function runsOf(
  { spans }: Extract<DiffLine, { readonly number: number }>,
  { style, changed, longest }: {
    readonly style: Run["paint"];
    readonly changed: Run["paint"];
    readonly longest: number;
  },
): readonly Run[] {
  const runs: Run[] = [];
  let left = longest;
  for (const span of spans) {
    const text = visibleText(span.text.slice(0, left).replaceAll("\r", "").toWellFormed()).replaceAll("\t", TAB);
    runs.push({ text, paint: span.changed ? changed : style });
    left -= span.text.length;
    if (left < 0) return [...runs, { text: "…", paint: style }];
  }
  return runs;
}
