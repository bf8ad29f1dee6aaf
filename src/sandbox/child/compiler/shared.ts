/* The compiler shares these with the context of the blocks. Both load this file, and the compiler's context has
 * only the language: it imports nothing. */
import type { SYSTEM_VARIABLES, VariableImage } from "../../../domain/query/variable.ts";

/** There is nothing of that name. */
export const MISSING = -1;

/** The values that a template may show, in the context of the blocks. A number stands for each of them, since only
 * primitive values cross between the contexts. */
export interface TemplateValues {
  /** JSON list of the variables. */
  names(): string;
  variable(name: string): number;
  /** An own data property or a length of a value; nothing is inherited or run. */
  member(of: number, key: string): number;
  kind(of: number): "undefined" | "null" | "function" | "promise" | "other";
  text(of: number, chars: number): string;
  /** What can be asked of a value. */
  holds(of: number): string;
  /** Adds what a section iterates over: nothing for an empty or false value, the items of a list, else the value. */
  addItems(of: number, max: number): void;
  /** The number that the next value gets. */
  next(): number;
  /** Forgets the values from a number on. */
  forget(from: number): void;
}

/** These facts of a variable decide how its source is evaluated. */
export type RestoredSource = Pick<VariableImage, "name" | "kind" | "source" | "summary">;

/** The script that gives a variable the function or class that its source describes. The source begins on
 * the second line. Nothing here depends on what a block may have replaced, so the compiler and the blocks make the same
 * text. */
export function restoredScript({ name, source, summary }: RestoredSource): string {
  const value = summary.declaration === "function" ? withoutName(source, name) : source;
  return `"use strict";${name}=\n${value}\n`;
}

/** A function declaration binds its name in the shared scope, not inside itself: `fib` calls the current `fib`. A name
 * beside a comment stays. */
function withoutName(source: string, name: string): string {
  const open = text.indexOf(source, "(");
  const head = text.slice(source, 0, open);
  const at = text.indexOf(head, "function");
  if (open < 0 || at < 0 || text.indexOf(head, name) < 0 || text.indexOf(head, "/") >= 0) return source;
  const star = text.indexOf(head, "*") >= 0 ? "*" : "";
  const bare = `${text.slice(head, 0, at)}function${star}`;
  const left = open - bare.length; // keeps the columns
  return bare + (left > 0 ? text.repeat(" ", left) : "") + text.slice(source, open);
}

const RESTORED = "kept.";

/** The file name under which a restored source is evaluated. */
export function fileOfRestored(name: string): string {
  return RESTORED + name;
}

/** Variables that Vis sets before every call; no block may declare them. */
export const SYSTEM_NAMES: readonly (typeof SYSTEM_VARIABLES)[number][] = [
  "$query",
  "$reasoning",
  "$answer",
  "$schema",
];

/** Methods of strings as they are when this module loads. It imports nothing: the compiler loads it too, in a context
 * that has only the language. */
const { call } = Function.prototype;
const { indexOf, repeat, slice } = String.prototype;

const text = {
  indexOf: call.bind(indexOf) as (self: string, part: string) => number,
  repeat: call.bind(repeat) as (self: string, count: number) => string,
  slice: call.bind(slice) as (self: string, from: number, to?: number) => string,
} as const;
