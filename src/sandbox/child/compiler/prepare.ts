import type { BlockError } from "../../../domain/query/query_schemas.ts";
import type { PLAN_VARIABLE } from "../../../domain/query/plan.ts";
import { freeNames, LANGUAGE_NAMES } from "./analysis.ts";
import {
  askedLast,
  type Declaration,
  declaredLast,
  type MadeFrom,
  madeFrom,
  topLevelAssignments,
  topLevelDeclarations,
} from "./declarations.ts";
import { positionError } from "./errors.ts";
import { feedsInStrings, type Parsed, parseText, type StripTypes, type Unparsed } from "./parse.ts";
import { applyEdits, composeMaps, IDENTITY, mapOffset, positionAt, type PositionMap } from "./positions.ts";
import { isDataLiteral, refusalOf, scriptFault } from "./refusals.ts";
import { rewriteTopLevel } from "./rewrite.ts";

export interface RunnableBlock {
  readonly ok: true;
  /** The declarations must exist as global properties before the call. */
  readonly code: string;
  /** If false, a returned promise that no running work can settle becomes the value of the block. */
  readonly awaits: boolean;
  readonly declarations: readonly Declaration[];
  readonly assigned: readonly Declaration[];
  readonly reads: readonly string[];
  readonly madeFrom: MadeFrom;
  readonly shows: string | null;
  readonly asks: "call" | "value" | null;
  readonly literal: boolean;
  readonly repaired: string | null;
  readonly map: PositionMap;
}

export interface RefusedBlock {
  readonly ok: false;
  readonly outcome: "refused";
  readonly error: BlockError;
  readonly repaired: string | null;
}

type PreparedBlock = RunnableBlock | RefusedBlock;

interface PrepareOptions {
  readonly loadSucrase: () => StripTypes;
}

/** The child does no other work while it prepares a block. */
const MAX_CHARS = 256 << 10, MAX_NODES = 150_000;
/** Each repair parses the text again, so longer text gets only the repairs of a leading fence and of line feeds in
 * strings. */
const REPAIRED_CHARS = 64 << 10;

const PLAN: typeof PLAN_VARIABLE = "$plan";

interface Attempt {
  readonly parsed: Parsed | Unparsed;
  readonly map: PositionMap;
  readonly note: string | null;
}

export function prepareBlock(source: string, options: PrepareOptions): PreparedBlock {
  if (source.length > MAX_CHARS) {
    return tooLong(source, `${source.length} characters, more than the limit of ${MAX_CHARS}`);
  }
  const { parsed, map, note } = read(source, options.loadSucrase);
  const refuse = (
    name: string,
    { message, advice, offset }: { message: string; advice?: string; offset: number },
  ): RefusedBlock => ({
    ok: false,
    outcome: "refused",
    error: positionError({ name, message, advice: advice === undefined ? "" : `; ${advice}` }, {
      source,
      offset: mapOffset(map, offset),
    }),
    repaired: note,
  });
  if (!parsed.ok) return refuse("SyntaxError", parsed);
  const { program, js, nodes, longest, stripped } = parsed;
  if (nodes > MAX_NODES) {
    return tooLong(source, `${nodes} names, values and operations, more than the limit of ${MAX_NODES}`);
  }
  const toSource = composeMaps(parsed.map, map);
  const place = (offset: number): string => {
    const { line, column } = positionAt(source, mapOffset(toSource, offset));
    return `${line}:${column}`;
  };
  const refused = refusalOf(program, { longest, stripped, js, place });
  if (refused) return refuse("Refused", { ...refused, offset: mapOffset(parsed.map, refused.offset) });
  const { code, awaits, map: toJs } = rewriteTopLevel(program, js);
  const fault = scriptFault(code);
  if (fault !== null) return refuse("Refused", fault);
  const assigned = topLevelAssignments(parsed), declared = topLevelDeclarations(parsed);
  // The prompt asks for `$plan = …`, so this assignment declares the variable.
  const plan = declared.some(({ name }) => name === PLAN) ? undefined : assigned.findLast(({ name }) => name === PLAN);
  const names = { declarations: plan ? [...declared, plan] : declared, assigned };
  return {
    ok: true,
    code,
    awaits,
    declarations: names.declarations,
    assigned: names.assigned,
    madeFrom: madeFrom(program, names),
    reads: freeNames(program).filter((name) => !LANGUAGE_NAMES.has(name)),
    shows: declaredLast(program),
    asks: askedLast(program),
    literal: isDataLiteral(program),
    repaired: note,
    map: composeMaps(toJs, toSource),
  };
}

function tooLong(source: string, size: string): RefusedBlock {
  const message = `The block is too long: it has ${size}`;
  const advice = "; split it into several blocks, keep data in a file, or repeat with a loop";
  const error = positionError({ name: "Refused", message, advice }, { source, offset: 0 });
  return { ok: false, outcome: "refused", error, repaired: null };
}

function read(source: string, loadSucrase: () => StripTypes): Attempt {
  const fenced = repairFence(source, { leading: true });
  const whole = fenced
    ? attempt(fenced, loadSucrase)
    : { parsed: parseText(source, loadSucrase), map: IDENTITY, note: null };
  const start = fenced ?? { text: source, map: IDENTITY, note: "" };
  if (whole.parsed.ok && !looksEscaped(whole.parsed, start.text)) return whole;
  const isString = !whole.parsed.ok && /["']/.test(start.text.charAt(whole.parsed.offset));
  const joined = isString ? repairLineFeeds(start.text) : null;
  const next = joined && attempt(chain(start, joined), loadSucrase);
  if (next?.parsed.ok) return next;
  if (source.length > REPAIRED_CHARS) return whole;
  for (const repaired of candidates(start, whole.parsed)) {
    const next = attempt(repaired, loadSucrase);
    if (next.parsed.ok) return next;
  }
  return whole;
}

function attempt(repaired: Repaired, loadSucrase: () => StripTypes): Attempt {
  const { text, map, note } = repaired;
  return { parsed: parseText(text, loadSucrase), map, note };
}

/** `a &lt; b;` parses as `a & lt; b`, so the free names reveal HTML escapes. */
function looksEscaped({ program }: Parsed, text: string): boolean {
  if (!/&(lt|gt|amp);/.test(text)) return false;
  return freeNames(program).some((name) => name === "lt" || name === "gt" || name === "amp");
}

function* candidates(start: Repaired, failed: Parsed | Unparsed): Generator<Repaired> {
  const atEnd = !failed.ok && failed.offset >= start.text.trimEnd().length;
  if (atEnd) { for (const one of repairEnd(start.text)) yield chain(start, one); }
  const inside = repairFence(start.text, { leading: false });
  if (inside) yield chain(start, inside);
  const base = inside ? chain(start, inside) : start;
  const entities = repairEntities(base.text);
  if (entities) {
    yield chain(base, entities);
    for (const one of repairEnd(entities.text)) yield chain(chain(base, entities), one);
  }
  if (inside) { for (const one of repairEnd(inside.text)) yield chain(base, one); }
}

function chain(first: Repaired, second: Repaired): Repaired {
  const notes = second.note === first.note ? [first.note] : [first.note, second.note];
  const note = notes.filter((one) => one !== "").join("; ");
  return { text: second.text, map: composeMaps(second.map, first.map), note };
}

interface Repaired {
  readonly text: string;
  readonly map: PositionMap;
  readonly note: string;
}

const FENCE = /(?:^|\n)[ \t]*(`{3,}|~{3,})[ \t]*[\w+-]*[ \t]*\r?\n([\s\S]*?)(?:\r?\n[ \t]*\1[ \t]*(?=\n|$)|$)/d;
const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&apos;": "'",
};

/** With `leading`, the text must begin with the fence, which the language would read as a useless tagged template. */
function repairFence(text: string, { leading }: { readonly leading: boolean }): Repaired | null {
  if (leading && !/^\s*(```|~~~)/.test(text)) return null;
  const found = FENCE.exec(text);
  const inside = found?.[2], start = found?.indices?.[2]?.[0];
  if (inside === undefined || start === undefined) return null;
  return { text: inside, map: [0, start, inside.length + 1], note: "took the code out of a Markdown fence" };
}

function repairEntities(text: string): Repaired | null {
  let out = "", at = 0;
  const map: number[] = [];
  for (const found of text.matchAll(/&(?:lt|gt|amp|quot|#39|apos);/g)) {
    map.push(out.length, at, found.index - at);
    out += text.slice(at, found.index);
    map.push(out.length, found.index, 1);
    out += ENTITIES[found[0]] ?? found[0];
    at = found.index + found[0].length;
  }
  if (at === 0) return null;
  map.push(out.length, at, text.length - at + 1);
  return { text: out + text.slice(at), map, note: "replaced HTML entities by their operators" };
}

function repairLineFeeds(text: string): Repaired | null {
  const feeds = feedsInStrings(text);
  if (!feeds || feeds.length === 0) return null;
  const edits = feeds.map((at) => ({ start: text[at - 1] === "\r" ? at - 1 : at, end: at + 1, text: "\\n" }));
  return { ...applyEdits(text, edits), note: "escaped the line feeds inside a string" };
}

function repairEnd(text: string): Repaired[] {
  return ["}", ")", "]"].map((closer) => ({
    text: `${text}\n${closer}`,
    map: IDENTITY,
    note: `added a missing "${closer}" at the end`,
  }));
}
