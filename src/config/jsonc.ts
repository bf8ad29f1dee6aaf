import { ConfigError, messageOf } from "../domain/errors.ts";
import { oneLine } from "../domain/kit/text.ts";

export function parseJsonc(file: { readonly path: string; readonly text: string }): unknown {
  try {
    return JSON.parse(stripComments(file.text.replace(/^\ufeff/, "")));
  } catch (error) {
    const why = oneLine(messageOf(error), 300);
    throw new ConfigError(`Cannot read ${file.path}: it is not JSON with comments (${why})`, {
      code: "syntax",
      advice: "correct the file",
    });
  }
}

/** Blanks replace comments and trailing commas, so that positions in errors stay correct. */
function stripComments(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ");
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => found[0] === '"' ? found : blank(found))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => found[0] === '"' ? found : " ");
}

interface Place {
  readonly text: string;
  readonly node: JsoncNode;
  readonly indent: string;
}

/** Keeps the order of the keys, and all comments outside the replaced value. */
export function setInJsonc(
  text: string,
  { path, value }: { readonly path: readonly string[]; readonly value: unknown },
): string {
  if (text.trim() === "") return `${written(nested(path, value), "")}\n`;
  const { place, rest } = deepest(text, path);
  const { node, indent } = place;
  const [key, ...below] = rest;
  if (key === undefined) return splice(text, { start: node.start, end: node.end, with: written(value, indent) });
  const parent = path.slice(0, -below.length - 1).join(".") || "the file";
  const why = node.kind === "scalar"
    ? "is neither an object nor a list"
    : node.kind === "array" && Number(key) !== node.members.length
    ? `is a list, whose next index is ${node.members.length}`
    : null;
  if (why !== null) throw new RangeError(`Cannot set ${path.join(".")}: ${parent} ${why}`);
  return insert(place, { key, value: nested(below, value) });
}

/** If the line has no other value, also removes the rest of the line, such as a comment. */
export function removeFromJsonc(text: string, path: readonly string[]): string {
  if (text.trim() === "" || path.length === 0) return text;
  const { place, rest } = deepest(text, path.slice(0, -1));
  const at = rest.length > 0 ? -1 : place.node.members.findLastIndex(({ key }) => key === path.at(-1));
  const member = place.node.members[at];
  return member === undefined ? text : cutOut(place, { member, before: place.node.members[at - 1] });
}

function deepest(text: string, path: readonly string[]): { readonly place: Place; readonly rest: readonly string[] } {
  let node = jsoncTree(text);
  let indent = indentAt(text, node.start);
  for (const [at, step] of path.entries()) {
    const member = node.members.findLast(({ key }) => key === step);
    if (member === undefined) return { place: { text, node, indent }, rest: path.slice(at) };
    node = member.value;
    indent = indentAt(text, member.start);
  }
  return { place: { text, node, indent }, rest: [] };
}

function insert(
  { text, node, indent }: Place,
  { key, value }: { readonly key: string; readonly value: unknown },
): string {
  const first = node.members[0], last = node.members.at(-1);
  const spread = first === undefined || text.slice(node.start, first.start).includes("\n");
  const inner = first && spread ? indentAt(text, first.start) : `${indent}  `;
  const name = node.kind === "object" ? `${JSON.stringify(key)}: ` : "";
  const member = `${name}${written(value, spread ? inner : indent)}`;
  if (last === undefined) {
    const content = text.slice(node.start + 1, node.end - 1).trimEnd();
    const line = content === "" ? `\n${inner}${member}\n${indent}` : `${content}\n${inner}${member}\n${indent}`;
    return splice(text, { start: node.start + 1, end: node.end - 1, with: line });
  }
  if (!spread) {
    const at = last.comma === null ? last.value.end : last.comma + 1;
    return splice(text, { start: at, end: at, with: last.comma === null ? `, ${member}` : ` ${member},` });
  }
  const trailing = last.comma === null ? "" : ",";
  const after = lineRest(text, (last.comma ?? last.value.end - 1) + 1);
  const added = splice(text, { start: after, end: after, with: `\n${inner}${member}${trailing}` });
  return last.comma === null ? splice(added, { start: last.value.end, end: last.value.end, with: "," }) : added;
}

function cutOut(
  { text, node }: Place,
  { member, before }: { readonly member: JsoncMember; readonly before: JsoncMember | undefined },
): string {
  const isLast = node.members.at(-1) === member;
  const lineStart = text.lastIndexOf("\n", member.start - 1) + 1;
  let end = member.comma === null ? member.value.end : member.comma + 1;
  const rest = lineRest(text, end);
  const alone = text.slice(lineStart, member.start).trim() === "" && (text[rest] ?? "\n") === "\n";
  let start = member.start;
  if (alone) [start, end] = [Math.max(0, lineStart - 1), rest];
  else if (!isLast) end = afterBlanks(text, end);
  else if (before) start = before.comma === null ? before.value.end : before.comma + 1;
  const cut = splice(text, { start, end, with: "" });
  if (!isLast || member.comma !== null || before?.comma == null) return cut;
  return splice(cut, { start: before.comma, end: before.comma + 1, with: "" });
}

function lineRest(text: string, from: number): number {
  const rest = /[^\S\n]*(?:\/\*[^\n]*?\*\/[^\S\n]*)*(?:\/\/[^\n]*)?/y;
  rest.lastIndex = from;
  const found = rest.exec(text)?.[0] ?? "";
  return from + found.trimEnd().length;
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[^\S\n]*/.exec(line)?.[0].replace("\ufeff", "") ?? "";
}

/** If the list of a key such as `hooks.end.0` is missing, the key makes the list. */
function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => key === "0" ? [inner] : { [key]: inner }, value);
}

function written(value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => written(one, deeper))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${written(one, deeper)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${open}${close}`;
  const flat = `${open}${parts.join(", ")}${close}`;
  const isFlat = Array.isArray(value) && flat.length <= 80 && value.every((one) => Object(one) !== one);
  return isFlat ? flat : `${open}\n${parts.map((part) => `${deeper}${part}`).join(",\n")}\n${indent}${close}`;
}

function splice(text: string, { start, end, with: put }: { start: number; end: number; with: string }): string {
  return `${text.slice(0, start)}${put}${text.slice(end)}`;
}

interface JsoncNode {
  readonly start: number;
  readonly end: number;
  readonly kind: "object" | "array" | "scalar";
  readonly members: readonly JsoncMember[];
}

interface JsoncMember {
  readonly key: string;
  readonly start: number;
  readonly value: JsoncNode;
  readonly comma: number | null;
}

const SCALAR = /[^\s,:\[\]{}"\/]+/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;
const BLANK = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

function jsoncTree(text: string): JsoncNode {
  const reader = new TreeReader(text);
  return reader.value();
}

function afterBlanks(text: string, from: number): number {
  BLANK.lastIndex = from;
  BLANK.exec(text);
  return BLANK.lastIndex;
}

class TreeReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): JsoncNode {
    const start = this.#at = afterBlanks(this.#text, this.#at);
    const open = this.#text[start];
    if (open === "{") return this.#container("object", "}");
    if (open === "[") return this.#container("array", "]");
    this.#match(open === '"' ? STRING : SCALAR);
    return { start, end: this.#at, kind: "scalar", members: [] };
  }

  #container(kind: "object" | "array", close: string): JsoncNode {
    const start = this.#at++;
    const members: JsoncMember[] = [];
    while (!this.#takes(close)) {
      const from = this.#at;
      const key = kind === "array" ? String(members.length) : String(JSON.parse(this.#match(STRING)));
      if (kind === "object" && !this.#takes(":")) throw this.#unexpected();
      const value = this.value();
      const end = this.#at;
      const comma = this.#takes(",") ? this.#at - 1 : null;
      if (comma === null) this.#at = end;
      members.push({ key, start: from, value, comma });
      if (comma === null && this.#text[afterBlanks(this.#text, end)] !== close) throw this.#unexpected();
    }
    return { start, end: this.#at, kind, members };
  }

  #takes(char: string): boolean {
    this.#at = afterBlanks(this.#text, this.#at);
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected();
    this.#at += found.length;
    return found;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`Cannot read JSON: the text at character ${this.#at} is unexpected`);
  }
}
