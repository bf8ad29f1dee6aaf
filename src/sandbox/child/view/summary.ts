import type { VariableSummary } from "../../../domain/query/variable.ts";
import { look } from "../intrinsics/look.ts";
import { functionLabel } from "./leaf_text.ts";
import { Previewer } from "./previewer.ts";
import { shape } from "./shape.ts";
import { typeOf } from "./value_type.ts";

export interface SummaryFacts {
  readonly declaration: string;
  readonly doc: string;
  /** Source of a function or class, for its parameters. */
  readonly source?: string;
  /** The variable's name, for signatures. */
  readonly name?: string;
}

const MAX_SHAPE = 200, MAX_INLINE = 120, MAX_DOC = 80;

/** Facts about a value on one line for the index; bounded, runs no code of the value. Never throws. */
export function summarize(value: unknown, facts: SummaryFacts): VariableSummary {
  const { declaration } = facts;
  const doc = look.slice(facts.doc, 0, MAX_DOC);
  try {
    const { type, size } = typeOf(value);
    return {
      declaration,
      type,
      size,
      shape: shapeText(value, { ...facts, type, size }),
      inline: inlineText(value),
      doc,
    };
  } catch {
    return { declaration, type: typeof value, size: null, shape: typeof value, inline: null, doc };
  }
}

interface Typed extends SummaryFacts {
  readonly type: string;
  readonly size: number | null;
}

function shapeText(value: unknown, facts: Typed): string {
  const { type, size, name = "" } = facts;
  if (typeof value === "string") return `string(${size})`;
  if (type === "function" && typeof value === "function") {
    const source = facts.source || look.functionText(value);
    return cut(`${name || label(value)}${parameters(source)}`);
  }
  if (type === "class" && typeof value === "function") return cut(look.slice(functionLabel(value, "class"), 1, -1));
  return shape(value, { terse: true, chars: MAX_SHAPE });
}

function label(value: object): string {
  const name: unknown = look.descriptorOf(value, "name")?.value;
  return typeof name === "string" ? name : "";
}

function cut(text: string): string {
  return text.length <= MAX_SHAPE ? text : `${look.slice(text, 0, MAX_SHAPE - 3)}...`;
}

/** The parameter list as written: from the first "(" to the one that closes it, ignoring strings. */
function parameters(source: string): string {
  const arrow = look.indexOf(source, "=>"), open = look.indexOf(source, "(");
  if (open < 0 || (arrow >= 0 && arrow < open)) {
    const from = look.slice(source, 0, 6) === "async " ? 6 : 0;
    return arrow > 0 ? `(${trimmed(look.slice(source, from, arrow))})` : "()";
  }
  let level = 0;
  for (let i = open; i < source.length && i < open + 1000; i++) {
    const c = look.charCodeAt(source, i);
    if (c === 40 || c === 91 || c === 123) level++;
    if ((c === 41 || c === 93 || c === 125) && --level === 0) return oneLine(look.slice(source, open, i + 1));
  }
  return "(...)";
}

function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && look.charCodeAt(text, end - 1) <= 32) end--;
  return look.slice(text, 0, end);
}

function oneLine(text: string): string {
  let out = "", space = false;
  for (let i = 0; i < text.length; i++) {
    const blank = look.charCodeAt(text, i) <= 32;
    if (!blank) out += (space && out !== "(" ? " " : "") + text[i];
    space = blank;
  }
  return out;
}

/** The whole value on one line; null if it is longer, a function, or incomplete. */
function inlineText(value: unknown): string | null {
  if (typeof value === "function" || (typeof value === "string" && value.length > MAX_INLINE)) return null;
  const previewer = new Previewer({ depth: 6, items: 60, chars: 200, ms: 10 });
  const text = previewer.text(value);
  if (!previewer.complete) return null;
  const line = look.indexOf(text, "\n") < 0 ? text : oneLine(text);
  return line.length <= MAX_INLINE ? line : null;
}
