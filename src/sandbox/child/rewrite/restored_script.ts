import type { VariableImage } from "../../../domain/query/variable.ts";
import { text } from "../intrinsics/text.ts";

/** What of a variable decides how its source is evaluated. */
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
