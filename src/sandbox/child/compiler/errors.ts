import { nearestName } from "../../../domain/kit/names.ts";
import type { BlockError } from "../../../domain/query/query_schemas.ts";
import type { ThrownError, ThrownFrame } from "../blocks/thrown_error.ts";
import { mapOffset, offsetOf, type Position, positionAt, type PositionMap } from "./positions.ts";
import { fileOfRestored } from "./restored_script.ts";

const MAX_STACK = 2000;

/** Line and column refer to the block that ran. If the error comes from a function of an earlier block, the excerpt
 * shows that place too. */
export function blockError(
  thrown: ThrownError,
  { block, blocks, hints }: {
    readonly block: RanBlock;
    readonly blocks: RanBlocks;
    readonly hints?: Omit<HintFacts, "source" | "whole">;
  },
): BlockError {
  const { name } = thrown;
  const frames = thrown.frames.flatMap((frame) => {
    const ran = frame.file === block.file ? block : blocks.find(frame.file);
    return ran ? [{ frame, ran }] : [];
  });
  const stack = frames.map((found) => stackLine(found, block)).join("\n").slice(0, MAX_STACK);
  const here = frames.find(({ ran }) => ran === block), [first] = frames;
  const own = here ? errorAt(thrown, here) : null;
  const origin = first && first.ran !== block ? originText(thrown, first) : "";
  const found = hints
    ? hintOf(thrown.message, { ...hints, whole: block.source, source: sourceFrom(block.source, own?.line ?? null) })
    : "";
  const advice = found === "" ? thrown.advice : `${thrown.advice} (${found})`;
  const excerpt = [own?.excerpt ?? "", origin].filter((part) => part !== "").join("\n");
  return {
    name,
    message: thrown.message,
    advice,
    line: own?.line ?? null,
    column: own?.column ?? null,
    excerpt,
    stack,
  };
}

function sourceFrom(source: string, line: number | null): string {
  return line === null ? source : source.split("\n").slice(line - 1).join("\n");
}

interface Found {
  readonly frame: ThrownFrame;
  readonly ran: RanBlock;
}

function errorAt(thrown: ThrownError, { frame, ran }: Found): BlockError {
  return positionError(thrown, { source: ran.source, offset: mapOffset(ran.map, offsetOf(ran.code, frame)) });
}

function originText(thrown: ThrownError, found: Found): string {
  const { line, excerpt } = errorAt(thrown, found);
  const { where } = found.frame;
  return `thrown in ${where ? `${where}, ` : ""}${found.ran.label}, line ${line}:\n${excerpt}`;
}

function stackLine({ frame, ran }: Found, block: RanBlock): string {
  const { line, column } = sourcePosition(frame, ran);
  const place = ran === block ? `${line}:${column}` : `${ran.label}, ${line}:${column}`;
  return `at ${frame.where ? `${frame.where} ` : ""}(${place})`;
}

interface HintFacts {
  readonly whole: string;
  readonly source: string;
  readonly names: readonly string[];
  readonly own: readonly string[];
  readonly isAsync: (path: string) => boolean;
}

type Hint = (found: RegExpExecArray, facts: HintFacts) => string;

const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
const PATH = String.raw`${NAME}(?:\.${NAME})*`;

const CALL = new RegExp(String.raw`(?<![\p{ID_Continue}$.])(${PATH})\(`, "gu");

const HINTS: readonly (readonly [RegExp, Hint])[] = [
  [new RegExp(`^(${NAME}) is not defined$`, "u"), ([, name = ""], facts) => undefinedName(name, facts)],
  [/^(require|fetch) is not a function$/, ([, name = ""], { names }) => absentHint(name, names)],
  [
    /^Cannot (?:read properties of undefined \(reading|set properties of undefined \(setting) '([^']+)'\)$/,
    ([, key = ""], { source, names }) => absentOwner(key, { source, names }),
  ],
  [
    new RegExp(`^(${NAME})(?:\\.${NAME})? is not a function$`, "u"),
    ([, root = ""], { names }) => membersOf(root, names),
  ],
  [/^Cannot add property (\S+), object is not extensible$/, ([, key = ""], { source }) => prototypeHint(key, source)],
  [
    new RegExp(
      String
        .raw`^(${PATH})(?:\(\.\.\.\)(?:\.${NAME})? is not (?:a function|iterable)| is not a function or its return value)`,
      "u",
    ),
    ([, path = ""], { isAsync }) => isAsync(path) ? `${path}(…) gives a promise: (await ${path}(…))` : "",
  ],
  [
    new RegExp(String.raw`^(${NAME})(?:\.${NAME})? is not (?:a function|iterable)`, "u"),
    ([, name = ""], facts) => promiseHint(name, facts),
  ],
  [
    /^Cannot access '(.+)' before initialization$/,
    ([, name = ""]) =>
      `this block declares ${name} later or in this statement: to use the value that it had, assign without const or let`,
  ],
  [/^Cannot read properties of (?:undefined|null)|is not (?:a function|iterable)/, (_, facts) => forgottenAwait(facts)],
  [/^\(intermediate value\).* is not a function$/, (_, { whole }) => continuedLine(whole)],
];

function hintOf(message: string, facts: HintFacts): string {
  for (const [pattern, hint] of HINTS) {
    // deno-lint-ignore vis/no-message-parsing -- errors of the engine have no codes
    const found = pattern.exec(message);
    const text = found ? hint(found, facts) : "";
    if (text !== "") return text;
  }
  return "";
}

function undefinedName(name: string, { source, names, own }: HintFacts): string {
  const escaped = name.replace(/\$/g, "\\$");
  const [line = ""] = source.split("\n", 1);
  const loop = new RegExp(String.raw`\bfor\s*\(\s*${escaped}\s*(=|of\b|in\b)`, "u").exec(line);
  if (loop) return `declare it: for (let ${name} ${loop[1]} …`;
  const assigned = new RegExp(String.raw`(?<![\p{ID_Continue}$.])${escaped}\s*=(?![=>])\s*([^;\n]{0,40})`, "u").exec(
    line,
  );
  if (assigned) {
    const value = assigned[1]?.trim() ?? "";
    return `declare it: let ${name} = ${/^[\w.]+$/.test(value) ? value : "…"}`;
  }
  if (own.includes(name)) return "";
  if (names.includes(name)) return "an earlier block declared it, and it has no value now: declare it again";
  if (ASKING.test(name)) return "to ask the user, end with the question as the final answer";
  const absent = absentHint(name, names);
  if (absent !== "") return absent;
  const near = nearestName(name, names.filter((known) => !own.includes(known)));
  return near ? `did you mean ${near}?` : "";
}

const ABSENT =
  /^(?:require|fetch|process|Deno|Bun|Buffer|module|exports|__dirname|__filename|os|path|https?|axios|requests|child_process|execSync|window|document|navigator)$/;
const ASKING = /^(?:prompt|ask|askUser|input|confirm|alert|readline)$/;

function absentHint(name: string, names: readonly string[]): string {
  if (!ABSENT.test(name) || names.includes(name)) return "";
  const roots = new Set(names.flatMap((one) => one.includes(".") ? [one.slice(0, one.indexOf("."))] : []));
  const scope = roots.size === 0 ? "" : `, such as ${[...roots].join(", ")}`;
  return `there is no ${name}: all names for blocks are in scope already${scope}`;
}

function absentOwner(key: string, { source, names }: Pick<HintFacts, "source" | "names">): string {
  const [line = ""] = source.split("\n", 1);
  const found = new RegExp(String.raw`(?<![\p{ID_Continue}$.])(${NAME})\.${key.replace(/\W/g, "\\$&")}`, "gu");
  return [...line.matchAll(found)].map(([, owner = ""]) => absentHint(owner, names)).find((hint) => hint !== "") ?? "";
}

function membersOf(root: string, names: readonly string[]): string {
  if (names.includes(root)) return "";
  const members = names.filter((name) => name.startsWith(`${root}.`)).map((name) => name.slice(root.length + 1));
  return members.length > 0 ? `${root} has ${members.join(", ")}` : "";
}

function prototypeHint(key: string, source: string): string {
  const owner = new RegExp(String.raw`([\w$]+)\.prototype\s*(?:\.|\[["'])${key.replace(/\W/g, "\\$&")}`).exec(source)
    ?.[1];
  return owner ? `${owner}.prototype cannot be extended in the sandbox: declare a function, such as ${key}(value)` : "";
}

function promiseHint(name: string, { whole, isAsync }: HintFacts): string {
  const given = new RegExp(String.raw`(?<![\p{ID_Continue}$.])${name.replace(/\$/g, "\\$")}\s*=\s*(${PATH})\(`, "u");
  const path = given.exec(whole)?.[1];
  return path && isAsync(path) ? `${name} is a promise: ${name} = await ${path}(…)` : "";
}

function forgottenAwait({ source, isAsync }: HintFacts): string {
  const [line = ""] = source.split("\n", 1);
  if (/\bPromise\./.test(line)) return "";
  for (const { 1: path = "", index } of line.matchAll(CALL)) {
    if (isAsync(path) && !/\bawait\s+\(?$/.test(line.slice(0, index))) {
      return `${path}(…) gives a promise: await ${path}(…)`;
    }
  }
  return "";
}

function continuedLine(whole: string): string {
  return /^[^\n]*[^\s;{}\n]\s*\n\s*[([`]/m.test(whole)
    ? "the next line begins with a bracket and continues this one: end this line with a semicolon"
    : "";
}

export interface RanBlock {
  readonly file: string;
  readonly code: string;
  readonly map: PositionMap;
  readonly source: string;
  readonly label: string;
}

const MAX_SIZE = 1 << 20;
const BLOCK_SIZE = 1024;
const ALWAYS = -1;

export class RanBlocks {
  readonly #blocks = new Map<string, RanBlock & { readonly query: number }>();
  #size = 0;
  #count = 0;
  #query = 0;

  add(
    block: Omit<RanBlock, "file" | "label">,
    place: { readonly iteration: number; readonly index: number },
  ): RanBlock {
    const label = `block ${place.index + 1} of iteration ${place.iteration}`;
    return this.#keep({ ...block, file: `block${++this.#count}`, label, query: this.#query });
  }

  /** The restored source starts on the second line of its file. */
  addRestored(name: string, source: string): void {
    const map = [0, 0, 0, 1, 0, source.length + 1];
    this.#keep({ file: fileOfRestored(name), code: `\n${source}`, source, map, label: "its source", query: ALWAYS });
  }

  find(file: string): RanBlock | null {
    const found = this.#blocks.get(file);
    if (!found) return null;
    const earlier = found.query !== ALWAYS && found.query !== this.#query;
    return earlier ? { ...found, label: `${found.label} of an earlier request` } : found;
  }

  endQuery(): void {
    this.#query++;
  }

  #keep(block: RanBlock & { readonly query: number }): RanBlock {
    this.#size += sizeOf(block) - sizeOf(this.#blocks.get(block.file));
    this.#blocks.delete(block.file);
    this.#blocks.set(block.file, block);
    for (const [file, oldest] of this.#blocks) {
      if (this.#size <= MAX_SIZE || file === block.file) break;
      this.#blocks.delete(file);
      this.#size -= sizeOf(oldest);
    }
    return block;
  }
}

function sizeOf(block: RanBlock | undefined): number {
  return block ? BLOCK_SIZE + block.code.length + block.source.length + block.map.length : 0;
}

const MAX_LINE = 200;

export function positionError(
  { name, message, advice = "" }: { readonly name: string; readonly message: string; readonly advice?: string },
  { source, offset }: { readonly source: string; readonly offset: number },
): BlockError {
  const { line, column } = positionAt(source, Math.min(offset, source.length));
  return { name, message, line, column, advice, excerpt: excerptOf(source, { line, column }), stack: "" };
}

function excerptOf(source: string, { line, column }: { readonly line: number; readonly column: number }): string {
  const text = source.split("\n", line)[line - 1]?.replace(/\r$/, "") ?? "";
  const start = Math.max(0, Math.min(column - MAX_LINE / 2, text.length - MAX_LINE));
  const shown = text.slice(start, start + MAX_LINE);
  const indent = shown.slice(0, column - 1 - start).replace(/[^\t]/g, " ");
  return `${shown}\n${indent}^`;
}

export function sourcePosition(
  position: Position,
  block: { readonly code: string; readonly map: PositionMap; readonly source: string },
): Position {
  return positionAt(block.source, mapOffset(block.map, offsetOf(block.code, position)));
}
