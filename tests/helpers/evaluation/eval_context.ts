import { type IndexRow, markOf, type ReadContext, readContext, sectionOf } from "./read_context.ts";

export interface EvalContext extends ReadContext {
  readonly iteration: number;
  readonly budget: number;
  readonly notes: string;
  readonly thinking: string;
  readonly attempts: readonly string[];
  readonly nudges: readonly string[];
}

const HEADER = /^\[iter (\d+)\/(\d+)\]/m;
const NUMBERED = /^((?: …|, ).+?): (.*) ×\d+$/s;
const MAX_NUMBERED = 100_000;

export function evalContext(text: string): EvalContext {
  const context = readContext(text);
  const header = HEADER.exec(text);
  const nudge = `[system_nudge${markOf(text)}] `;
  return {
    ...context,
    iteration: Number(header?.[1]),
    budget: Number(header?.[2]),
    notes: sectionOf(text, "notes"),
    thinking: sectionOf(text, "prior_thinking"),
    attempts: sectionOf(text, "attempts").split("\n").filter((line) => line !== ""),
    variables: new Map([...context.variables.values()].flatMap(numbered).map((row) => [row.name, row])),
    nudges: text.split("\n").flatMap((line) => line.startsWith(nudge) ? [line.slice(nudge.length)] : []),
  };
}

/** A row such as `f0 … f48: string ×49` stands for 49 rows. */
function numbered(row: IndexRow): IndexRow[] {
  const [, others = "", shown = ""] = NUMBERED.exec(row.shown) ?? [];
  if (others === "") return [row];
  return (row.name + others).split(", ").flatMap(spread).map((name) => ({ ...row, name, shown }));
}

function spread(names: string): string[] {
  const [first = "", last] = names.split(" … ");
  const [, head = "", from = "", tail = ""] = /^(.*?)(\d+)(\D*)$/.exec(first) ?? [];
  const to = last === undefined ? "" : /(\d+)\D*$/.exec(last)?.[1] ?? "";
  if (from === "" || to === "") return [first];
  const count = Math.min(MAX_NUMBERED, Number(to) - Number(from) + 1);
  const width = from.startsWith("0") ? from.length : 0;
  return Array.from({ length: count }, (_, at) => head + String(Number(from) + at).padStart(width, "0") + tail);
}
