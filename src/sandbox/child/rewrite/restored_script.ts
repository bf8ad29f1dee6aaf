import type { VariableImage } from "../../../domain/query/variable.ts";
import { look } from "../intrinsics/look.ts";

/** What of a variable decides how its source is evaluated. */
export type RestoredSource = Pick<VariableImage, "name" | "kind" | "source" | "summary">;

/** The script that gives a variable the function or class that its source describes. The source begins on
 * the second line. Nothing here depends on what a block may have replaced, so the main thread and the worker make the
 * same text. */
export function restoredScript({ name, source, summary }: RestoredSource): string {
  const text = summary.declaration === "function" ? withoutName(source, name) : source;
  return `"use strict";${name}=\n${text}\n`;
}

/** A function declaration binds its name in the shared scope, not inside itself: `fib` calls the current `fib`. A name
 * beside a comment stays. */
function withoutName(source: string, name: string): string {
  const open = look.indexOf(source, "(");
  const head = look.slice(source, 0, open);
  const at = look.indexOf(head, "function");
  if (open < 0 || at < 0 || look.indexOf(head, name) < 0 || look.indexOf(head, "/") >= 0) return source;
  const star = look.indexOf(head, "*") >= 0 ? "*" : "";
  const bare = `${look.slice(head, 0, at)}function${star}`;
  const left = open - bare.length; // keeps the columns
  return bare + (left > 0 ? look.repeat(" ", left) : "") + look.slice(source, open);
}
