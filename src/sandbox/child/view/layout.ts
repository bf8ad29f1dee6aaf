import { look } from "../intrinsics/look.ts";

const WIDTH = 80;
/** Objects without lists or objects of several lines are rows, so that records can be compared line by line. */
const ROW_WIDTH = 200;

export interface Bounds {
  /** How many levels of nested objects are opened. */
  readonly depth: number;
  /** How many items or keys of one object are shown. */
  readonly items: number;
  /** Limit of the whole text; markers for omitted parts may exceed it slightly. */
  readonly chars: number;
  /** Milliseconds after which the rest is omitted. */
  readonly ms: number;
}

/** The place of a value: its level, and how many characters of text it may use. */
export interface Share {
  readonly level: number;
  readonly share: number;
}

export interface Container {
  readonly open: string;
  readonly close: string;
  readonly parts: readonly string[];
  readonly level: number;
  /** Short parts of a list share lines. */
  readonly list: boolean;
}

/** Parts on one line if they fit, else on indented lines. */
export function layOut({ open, close, parts, level, list }: Container): string {
  if (parts.length === 0) return open + close;
  let size = open.length + level * 2, longest = 0, oneLine = true;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    size += part.length + 2;
    if (part.length > longest) longest = part.length;
    if (look.indexOf(part, "\n") >= 0) oneLine = false;
  }
  if (oneLine && size <= (list ? WIDTH : ROW_WIDTH)) return `${open} ${joined(parts, ", ")} ${close}`;
  const indent = look.repeat(" ", level + 1);
  const lines = oneLine && list && longest <= 24 ? filled(parts, WIDTH - level * 2 - 2) : rows(parts);
  return `${open}\n${indent}${joined(lines, `,\n${indent}`)}\n${look.repeat(" ", level)}${close}`;
}

/** Lists and objects of one line without blanks inside their brackets, since there may be many. */
function rows(parts: readonly string[]): string[] {
  const out: string[] = Object.setPrototypeOf([], null);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!, size = part.length;
    const open = part[0], close = part[size - 1];
    const isRow = (open === "[" && close === "]" || open === "{" && close === "}") && part[1] === " " &&
      part[size - 2] === " " && look.indexOf(part, "\n") < 0;
    out[i] = isRow ? open + look.slice(part, 2, size - 2) + close : part;
  }
  return out;
}

function joined(parts: readonly string[], separator: string): string {
  let out = "";
  for (let i = 0; i < parts.length; i++) out += i > 0 ? separator + parts[i] : parts[i];
  return out;
}

function filled(parts: readonly string[], width: number): string[] {
  const lines: string[] = Object.setPrototypeOf([], null);
  let line = "";
  for (let i = 0; i < parts.length; i++) {
    if (line !== "" && line.length + parts[i]!.length + 2 > width) {
      lines[lines.length] = line;
      line = "";
    }
    line += line === "" ? parts[i]! : `, ${parts[i]}`;
  }
  lines[lines.length] = line;
  return lines;
}
