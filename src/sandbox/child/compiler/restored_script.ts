/* The compiler and the context of the blocks both load this file. The compiler's context has only the language, so
 * this file imports only types. */
import type { SYSTEM_VARIABLES, VariableImage } from "../../../domain/query/variable.ts";

export const MISSING = -1;

export interface TextForm {
  readonly json: boolean;
}

export interface TemplateValues {
  names(): string;
  variable(name: string): number;
  member(of: number, key: string): number;
  kind(of: number): "undefined" | "null" | "function" | "promise" | "other";
  text(of: number, form: TextForm & { readonly chars: number }): string;
  holds(of: number): string;
  addItems(of: number, max: number): void;
  next(): number;
  forget(from: number): void;
}

export type RestoredSource = Pick<VariableImage, "name" | "kind" | "source" | "summary">;

/** The source begins on the second line. No step depends on values that a block may have replaced, so the compiler and
 * the blocks make the same text. */
export function restoredScript({ name, source, summary }: RestoredSource): string {
  const value = summary.declaration === "function" ? withoutName(source, name) : source;
  return `"use strict";${name}=\n${value}\n`;
}

/** A name would bind inside the function, where `fib` must call the current `fib`. A name next to a comment stays. */
function withoutName(source: string, name: string): string {
  const open = text.indexOf(source, "(");
  const head = text.slice(source, 0, open);
  const at = text.indexOf(head, "function");
  if (open < 0 || at < 0 || text.indexOf(head, name) < 0 || text.indexOf(head, "/") >= 0) return source;
  const star = text.indexOf(head, "*") >= 0 ? "*" : "";
  const bare = `${text.slice(head, 0, at)}function${star}`;
  const left = open - bare.length;
  return bare + (left > 0 ? text.repeat(" ", left) : "") + text.slice(source, open);
}

const RESTORED = "kept.";

export function fileOfRestored(name: string): string {
  return RESTORED + name;
}

export const SYSTEM_NAMES: readonly (typeof SYSTEM_VARIABLES)[number][] = [
  "$query",
  "$reasoning",
  "$answer",
  "$schema",
  "$messages",
];

/** A block may replace methods of strings, so this module captures them when it loads. */
const { call } = Function.prototype;
const { indexOf, repeat, slice } = String.prototype;

const text = {
  indexOf: call.bind(indexOf) as (self: string, part: string) => number,
  repeat: call.bind(repeat) as (self: string, count: number) => string,
  slice: call.bind(slice) as (self: string, from: number, to?: number) => string,
} as const;
