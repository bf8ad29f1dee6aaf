import { declaringLine } from "../../domain/query/variable.ts";
import { safeLine, safeText } from "./_safe_text.ts";
import type { ContextCaps, IndexedVariable } from "./context_parts.ts";

const NAME_CHARS = 100;
const SHAPE_CHARS = 200;
const DOC_CHARS = 80;
const STATEMENT_CHARS = 100;
const NAMES_CHARS = 2_000;
const FORGOTTEN_CHARS = 1_000;
const DECLARATIONS = new Set(["const", "let", "var", "function", "class", "enum"]);

/** The body of `<var_index>`: every variable but those of the system, which the instructions name, in the given order
 * (newest first), with small values shown in full. What does not fit into `indexRows` rows and `indexChars` characters
 * is reduced to names. */
export function renderVarIndex(
  variables: readonly IndexedVariable[],
  caps: Pick<ContextCaps, "indexRows" | "indexChars" | "inlineChars">,
): string {
  const live = variables.filter((variable) => variable.scope === "live");
  const groups = groupNumbered(live, caps.inlineChars);
  const lines: string[] = [];
  let chars = 0;
  let shown = 0;
  for (const group of groups) {
    if (shown >= caps.indexRows) break;
    const line = group.numbered === null ? row(group.newest, caps.inlineChars) : groupRow(group, group.numbered);
    chars += line.length + 1;
    if (chars > caps.indexChars) break;
    lines.push(line);
    shown++;
  }
  lines.push(...olderNames(groups.slice(shown).flatMap((group) => group.members)));
  lines.push(...forgottenLine(variables.filter((variable) => variable.scope === "forgotten")));
  return safeText(lines.join("\n"));
}

function row(variable: IndexedVariable, inlineChars: number): string {
  const { kind, summary, versions, reason, code } = variable;
  const name = nameOf(variable);
  const comment = versions > 1 ? [`v${versions}`] : [];
  if (kind === "pending") comment.push("pending: await it");
  if (kind === "lost") {
    const line = safeLine(declaringLine(code ?? "", variable.name), STATEMENT_CHARS);
    const made = line === "" ? "" : `; made by: ${line}`;
    comment.push(`lost: ${safeLine(reason, SHAPE_CHARS) || "its value could not be kept"}${made}`);
  }
  if (summary.doc !== "") comment.push(safeLine(summary.doc, DOC_CHARS));
  if (kind !== "lost" && reason !== "") comment.push(`not kept after a restart: ${safeLine(reason, SHAPE_CHARS)}`);
  if (kind === "function" || kind === "class") {
    const shape = safeLine(summary.shape, SHAPE_CHARS);
    return `${kind} ${shape.startsWith(name) ? shape : name} …${commented(comment)}`;
  }
  const inline = kind === "data" && summary.inline !== null && summary.inline.length <= inlineChars
    ? safeLine(summary.inline, inlineChars)
    : null;
  const value = inline === null ? `: ${shapeOf(variable)}` : ` = ${inline}`;
  return `${declarationOf(variable)} ${name}${value}${commented(comment)}`;
}

function groupRow(
  { newest, members }: NameGroup,
  numbered: { readonly names: string; readonly count: number },
): string {
  const { kind, summary } = newest;
  const versions = members.map((member) => member.versions);
  const [low, high] = [Math.min(...versions), Math.max(...versions)];
  const marks = high === 1 ? [] : [low === high ? `v${low}` : `v${low} to v${high}`];
  if (kind === "pending") marks.push("pending: await them");
  if (kind === "lost") marks.push(`lost: ${safeLine(newest.reason, SHAPE_CHARS)}`);
  if (summary.doc !== "") marks.push(safeLine(summary.doc, DOC_CHARS));
  const word = kind === "function" || kind === "class" ? kind : declarationOf(newest);
  return `${word} ${numbered.names}: ${shapeOf(newest)} ×${numbered.count}${commented(marks)}`;
}

function commented(facts: readonly string[]): string {
  return facts.length === 0 ? "" : `  // ${facts.join(" ")}`;
}

function olderNames(rest: readonly IndexedVariable[]): string[] {
  if (rest.length === 0) return [];
  const line = listWithin(rest.map(nameOf), NAMES_CHARS - 8);
  const more = rest.length - line.count;
  return [`older: ${line.text}`, ...(more > 0 ? [`+${more} more: await vars()`] : [])];
}

function forgottenLine(forgotten: readonly IndexedVariable[]): string[] {
  const [newest] = forgotten;
  if (newest === undefined) return [];
  const { text, count } = listWithin(forgotten.map((v) => `${nameOf(v)}(v${v.versions})`), FORGOTTEN_CHARS);
  const more = forgotten.length > count ? ` +${forgotten.length - count} more: await vars()` : "";
  return [`forgotten: ${text}${more}  // await restoreVar(${JSON.stringify(nameOf(newest))})`];
}

/** As many items as fit into `limit` characters, separated by spaces. */
function listWithin(items: readonly string[], limit: number): { readonly text: string; readonly count: number } {
  let chars = 0;
  let count = 0;
  for (const item of items) {
    chars += item.length + 1;
    if (chars > limit) break;
    count++;
  }
  return { text: items.slice(0, count).join(" "), count };
}

function nameOf({ name }: IndexedVariable): string {
  return safeLine(name, NAME_CHARS);
}

function shapeOf({ summary, kind }: IndexedVariable): string {
  return safeLine(summary.shape, SHAPE_CHARS) || safeLine(summary.type, SHAPE_CHARS) || kind;
}

function declarationOf({ summary }: IndexedVariable): string {
  return DECLARATIONS.has(summary.declaration) ? summary.declaration : "const";
}

/** Variables that share one row of the index; `numbered` is null for a single one. */
interface NameGroup {
  readonly newest: IndexedVariable;
  readonly members: readonly IndexedVariable[];
  readonly numbered: { readonly names: string; readonly count: number } | null;
}

/** With more gaps than this, only the first and last names are listed. */
const MAX_RUNS = 4;

/** Groups variables whose names differ only in their last number and that otherwise look the same. Groups are in the
 * order of their newest members. Values that are shown in full are not grouped, because their row says more. */
function groupNumbered(variables: readonly IndexedVariable[], inlineChars: number): NameGroup[] {
  const groups = new Map<string, IndexedVariable[]>();
  for (const variable of variables) {
    const key = keyOf(variable, inlineChars) ?? `\u0000${variable.name}`;
    const members = groups.get(key);
    if (members) members.push(variable);
    else groups.set(key, [variable]);
  }
  return [...groups.values()].map(groupOf);
}

function keyOf({ name, kind, summary, reason }: IndexedVariable, inlineChars: number): string | null {
  const parts = splitNumber(name);
  const inlined = kind === "data" && summary.inline !== null && summary.inline.length <= inlineChars;
  if (parts === null || inlined) return null;
  const { declaration, type, size, shape, doc } = summary;
  const look = kind === "function" || kind === "class" ? shape.replace(name, "") : shape;
  const padded = /^0\d/.test(parts.digits) ? parts.digits.length : 0;
  return JSON.stringify([parts.head, padded, parts.tail, kind, declaration, type, size, look, doc, reason]);
}

function splitNumber(name: string): { readonly head: string; readonly digits: string; readonly tail: string } | null {
  if (name.length > 100) return null;
  const [, head = "", digits = "", tail = ""] = /^(.*?)(\d+)(\D*)$/s.exec(name) ?? [];
  return digits === "" ? null : { head, digits, tail };
}

function groupOf(members: readonly IndexedVariable[]): NameGroup {
  const [newest] = members;
  if (newest === undefined) throw new RangeError("Cannot groupOf a group of names: 0 members");
  if (members.length === 1) return { newest, members, numbered: null };
  const sorted = members
    .map(({ name }) => ({ name: safeLine(name, 100), number: Number(splitNumber(name)?.digits ?? Number.NaN) }))
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
