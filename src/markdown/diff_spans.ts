import type { CodeSpan } from "./code_spans.ts";

const PLACE = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Splits a unified diff into its lines for highlighting, each with its line end; joined, they are the same text. */
export function diffSpans(diff: string): readonly CodeSpan[] {
  const lines = diff.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  // What the last place announced: only there, "---" and "+++" are changed lines and name no files.
  let [before, after] = [0, 0];
  return lines.map((text) => {
    const place = PLACE.exec(text);
    if (place) [before, after] = [Number(place[1] ?? 1), Number(place[2] ?? 1)];
    const kind = kindOf(text, before > 0 || after > 0);
    if (kind === "removed" || kind === "plain") before--;
    if (kind === "added" || kind === "plain") after--;
    return { kind, text };
  });
}

function kindOf(line: string, isInside: boolean): CodeSpan["kind"] {
  if (line.startsWith("@@")) return "place";
  if (!isInside && /^(?:diff |index |Index:|={9}|--- |\+\+\+ )/.test(line)) return "file";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "plain";
}
