/* Shared by the compiler and the context of the blocks, which both load this file. The compiler's context has only the
 * language, so this file imports only types. */
import type { SYSTEM_VARIABLES, VariableImage } from "../../../domain/query/variable.ts";

export const MISSING = -1;

/** The values that a template may show, in the context of the blocks. Each value has a number, since only primitive
 * values cross between the contexts. */
export interface TemplateValues {
  /** Returns the names as a JSON list. */
  names(): string;
  variable(name: string): number;
  /** Returns an own data property or a length of a value. Inherited properties and getters are never read. */
  member(of: number, key: string): number;
  kind(of: number): "undefined" | "null" | "function" | "promise" | "other";
  text(of: number, chars: number): string;
  holds(of: number): string;
  /** Adds the items of a section: none for an empty or false value, the items of a list, otherwise the value. */
  addItems(of: number, max: number): void;
  next(): number;
  forget(from: number): void;
}

/** The facts of a variable that decide how its source is evaluated. */
export type RestoredSource = Pick<VariableImage, "name" | "kind" | "source" | "summary">;

/** Returns the script that gives a variable the function or class of its source. The source begins on the second line.
 * No step depends on values that a block may have replaced, so the compiler and the blocks make the same text. */
export function restoredScript({ name, source, summary }: RestoredSource): string {
  const value = summary.declaration === "function" ? withoutName(source, name) : source;
  return `"use strict";${name}=\n${value}\n`;
}

/** Removes the name, because a function declaration binds it in the shared scope: `fib` calls the current `fib`. A name
 * next to a comment stays. */
function withoutName(source: string, name: string): string {
  const open = text.indexOf(source, "(");
  const head = text.slice(source, 0, open);
  const at = text.indexOf(head, "function");
  if (open < 0 || at < 0 || text.indexOf(head, name) < 0 || text.indexOf(head, "/") >= 0) return source;
  const star = text.indexOf(head, "*") >= 0 ? "*" : "";
  const bare = `${text.slice(head, 0, at)}function${star}`;
  const left = open - bare.length; // The columns stay the same.
  return bare + (left > 0 ? text.repeat(" ", left) : "") + text.slice(source, open);
}

const RESTORED = "kept.";

export function fileOfRestored(name: string): string {
  return RESTORED + name;
}

/** Variables that Vis sets before every call. Blocks must not declare these variables. */
export const SYSTEM_NAMES: readonly (typeof SYSTEM_VARIABLES)[number][] = [
  "$query",
  "$reasoning",
  "$answer",
  "$schema",
];

/** Methods of strings, captured when this module loads. */
const { call } = Function.prototype;
const { indexOf, repeat, slice } = String.prototype;

const text = {
  indexOf: call.bind(indexOf) as (self: string, part: string) => number,
  repeat: call.bind(repeat) as (self: string, count: number) => string,
  slice: call.bind(slice) as (self: string, from: number, to?: number) => string,
} as const;
