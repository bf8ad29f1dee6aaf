import type { BlockError } from "../../domain/block_result.ts";
import { captured } from "./captured.ts";

const MAX_MESSAGE = 4000, MAX_STACK = 2000, MAX_LINE = 200, MAX_FRAMES = 10;
/** V8 makes `stack` an accessor of the object or of the prototype, by version; a block cannot replace this one. */
const stackGetter: unknown = Object.getOwnPropertyDescriptor(new Error("probe"), "stack")?.get ??
  Object.getOwnPropertyDescriptor(Error.prototype, "stack")?.get;
const slice = String.prototype.slice;
const split = String.prototype.split;
const match = RegExp.prototype.exec;

export interface ThrownIn {
  /** File name that the block was compiled with. */
  readonly file: string;
  /** The text that the model wrote. */
  readonly source: string;
  readonly preview: (value: unknown) => string;
}

/** What a block threw, whatever it is, without running a getter or a trap of it. */
export function blockError(thrown: unknown, { file, source, preview }: ThrownIn): BlockError {
  const isError = typeof thrown === "object" && thrown !== null && !captured.isProxy(thrown) &&
    captured.apply(isPrototypeOf, errorPrototype, [thrown]);
  const own = isError ? textOf(thrown, "message") : null;
  const name = isError ? textOf(thrown, "name") ?? "Error" : "Error";
  const hint = isError ? textOf(thrown, "hint") : null;
  const message = own === null ? `thrown: ${preview(thrown)}` : hint ? `${own} (${hint})` : own;
  const frames = isError ? framesOf(stackOf(thrown), file) : [];
  const first = frames[0];
  const line = first?.line ?? null, column = first?.column ?? null;
  let stack = "";
  for (let i = 0; i < frames.length && i < MAX_FRAMES; i++) stack += `${i > 0 ? "\n" : ""}${frames[i]?.text ?? ""}`;
  return {
    name: cut(name, 200),
    message: cut(message, MAX_MESSAGE),
    line,
    column,
    excerpt: excerpt(source, line, column),
    stack: cut(stack, MAX_STACK),
  };
}

const errorPrototype = Error.prototype;
const isPrototypeOf = Object.prototype.isPrototypeOf;
const cut = (text: string, max: number): string => captured.apply(slice, text, [0, max]);

/** A data property of the value or of what it inherits from; accessors are not run. */
function textOf(value: unknown, key: string): string | null {
  let at: unknown = value;
  for (let depth = 0; depth < 20 && typeof at === "object" && at !== null && !captured.isProxy(at); depth++) {
    const found = captured.getOwnPropertyDescriptor(at, key);
    if (found) return typeof found.value === "string" ? found.value : null;
    at = captured.getPrototypeOf(at);
  }
  return null;
}

function stackOf(error: object): string {
  const own = captured.getOwnPropertyDescriptor(error, "stack");
  if (typeof own?.value === "string") return own.value;
  if (typeof stackGetter !== "function" || (own?.get && own.get !== stackGetter)) return "";
  try {
    const stack: unknown = captured.apply(stackGetter as () => unknown, error, []);
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
}

interface StackFrame {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

const FRAME = /^\s+at (?:async )?(?:(.{1,200}?) \()?(block[\w.]*):(\d+):(\d+)\)?$/;

/** Frames of the block that failed come with a position in its text; frames of ours are left out. */
function framesOf(stack: string, file: string): StackFrame[] {
  const frames: StackFrame[] = [];
  const lines = captured.apply(split, stack, ["\n", 200]);
  for (let i = 0; i < lines.length; i++) {
    const parts = captured.apply(match, FRAME, [lines[i] ?? ""]);
    const where = parts?.[1] ?? "", from = parts?.[2], line = parts?.[3] ?? "", column = parts?.[4] ?? "";
    if (from === undefined) continue;
    if (from !== file && frames.length === 0) continue;
    const place = from === file ? `${line}:${column}` : `${from}:${line}:${column}`;
    const frame = { text: `at ${where ? `${where} ` : ""}(${place})`, line: +line, column: +column };
    captured.defineProperty(frames, frames.length, {
      value: frame,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return frames;
}

function excerpt(source: string, line: number | null, column: number | null): string {
  if (line === null || column === null) return "";
  const text = captured.apply(split, source, ["\n", line])[line - 1];
  if (text === undefined || text.length > MAX_LINE) return "";
  let indent = "";
  for (let i = 1; i < column; i++) indent += " ";
  return `${text}\n${indent}^`;
}
