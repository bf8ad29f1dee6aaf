import type { IndexedVariable } from "./context_parts.ts";
import { safeLine } from "./_safe_text.ts";

/** Variables that share one row of the index; `numbered` is null for a single one. */
export interface NameGroup {
  readonly newest: IndexedVariable;
  readonly members: readonly IndexedVariable[];
  readonly numbered: { readonly names: string; readonly count: number } | null;
}

/** With more gaps than this, only the first and last names are listed. */
const MAX_RUNS = 4;

/** Groups variables whose names differ only in their last number and that otherwise look the same. Groups are in the
 * order of their newest members. Values that are shown in full are not grouped, because their row says more. */
export function groupNumbered(variables: readonly IndexedVariable[], inlineChars: number): NameGroup[] {
  const groups = new Map<string, IndexedVariable[]>();
  for (const variable of variables) {
    const key = keyOf(variable, inlineChars) ?? `\u0000${variable.name}`;
    const members = groups.get(key);
    if (members) members.push(variable);
    else groups.set(key, [variable]);
  }
  return [...groups.values()].map(describe);
}

function keyOf({ name, kind, summary, reason }: IndexedVariable, inlineChars: number): string | null {
  const parts = split(name);
  const inlined = kind === "data" && summary.inline !== null && summary.inline.length <= inlineChars;
  if (parts === null || inlined) return null;
  const { declaration, type, size, shape, doc } = summary;
  const look = kind === "function" || kind === "class" ? shape.replace(name, "") : shape;
  const padded = /^0\d/.test(parts.digits) ? parts.digits.length : 0;
  return JSON.stringify([parts.head, padded, parts.tail, kind, declaration, type, size, look, doc, reason]);
}

function split(name: string): { readonly head: string; readonly digits: string; readonly tail: string } | null {
  if (name.length > 100) return null;
  const [, head = "", digits = "", tail = ""] = /^(.*?)(\d+)(\D*)$/s.exec(name) ?? [];
  return digits === "" ? null : { head, digits, tail };
}

function describe(members: readonly IndexedVariable[]): NameGroup {
  const [newest] = members;
  if (newest === undefined) throw new RangeError("Cannot describe a group of names: 0 members");
  if (members.length === 1) return { newest, members, numbered: null };
  const sorted = members
    .map(({ name }) => ({ name: safeLine(name, 100), number: Number(split(name)?.digits ?? Number.NaN) }))
    .toSorted((a, b) => a.number - b.number);
  const runs: { first: string; last: string; end: number }[] = [];
  for (const { name, number } of sorted) {
    const run = runs.at(-1);
    if (run && run.end + 1 === number) Object.assign(run, { last: name, end: number });
    else runs.push({ first: name, last: name, end: number });
  }
  const ends = `${sorted[0]?.name} … ${sorted.at(-1)?.name}`;
  const listed = runs.map(({ first, last }) => first === last ? first : `${first} … ${last}`).join(", ");
  return { newest, members, numbered: { names: runs.length > MAX_RUNS ? ends : listed, count: members.length } };
}
