import { createTwoFilesPatch } from "diff";

const MAX_DIFF = 64 * 1024;
const MAX_EDITS = 2_000;
const MAX_MS = 100;
const MAX_INPUT = 2 * 1024 * 1024;

/** A unified diff with three lines of context, "" where nothing changed. Bounded in time and length: where the texts
 * are too far apart the changed region is shown as a whole, and a last line says what was left out. */
export function unifiedDiff(path: string, texts: { readonly before: string | null; readonly after: string }): string {
  const { before, after } = texts;
  if (before === after) return "";
  const names = { old: before === null ? "/dev/null" : `a/${path}`, new: `b/${path}` };
  const old = before ?? "";
  const patch = old.length + after.length > MAX_INPUT
    ? undefined
    : createTwoFilesPatch(names.old, names.new, old, after, undefined, undefined, {
      context: 3,
      timeout: MAX_MS,
      maxEditLength: MAX_EDITS,
    });
  const text = patch ?? coarse(old, after, names);
  return bounded(text.replace(/^=+\n/, "").replaceAll("\t\n", "\n"));
}

/** One hunk from the first line that differs to the last. */
function coarse(before: string, after: string, names: { readonly old: string; readonly new: string }): string {
  const [a, b] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const removed = a.slice(head, a.length - tail);
  const added = b.slice(head, b.length - tail);
  return [
    `--- ${names.old}`,
    `+++ ${names.new}`,
    `@@ -${head + 1},${removed.length} +${head + 1},${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ].join("\n") + "\n";
}

function bounded(text: string): string {
  if (text.length <= MAX_DIFF) return text;
  const end = text.lastIndexOf("\n", MAX_DIFF);
  const kept = text.slice(0, end < 0 ? MAX_DIFF : end).toWellFormed();
  return `${kept}\n… ${text.length - kept.length} characters of the diff left out\n`;
}
