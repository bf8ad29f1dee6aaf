import { stripVTControlCharacters } from "node:util";
import { clip, counted, visibleText } from "../domain/kit/text.ts";

const LAST_LINES = 8, FAILURE_LINES = 12, FAILED_TESTS = 8;
const BLOCK_LINES = 9, DETAIL_LINES = 2, KEPT_CHARS = 200;
const FAILED_TEST = /^\s*(?:not ok\b|(?:--- )?FAIL(?:ED|URE)?\b|[✗✖✘✕×●] ?\S)|\.\.\. FAILED\b/i;
const FAILURE =
  /^\s*Traceback \(most recent call last\)|\bpanicked at\b|^npm (?:error|ERR!) |\b(?:\w+Error\b|error)(?: ?\[\w+\]| [A-Z]+\d+)?:/i;
/** The title of a passed or skipped test may contain words of a failure. */
const PASSED = /^\s*(?:ok\b|[✓✔√#])|^\s*not ok\b.*# (?:todo|skip)\b|\.\.\. ok\b|^✖ failing tests:$/i;

const PASS = /^\s*(?:ok\b|[✓✔√])|\.\.\. ok\b/i;
const SECTION = /^\s*# (?!(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok)\b)(?:Subtest: )?(.+)/;
const PLACE = /^\s+(?:at|location): ?\S/;
const PLACE_LINES = 40;
const VALUE = /^\s+(?:expected|actual|received|left|right): ?\S|^\s*[-+] (?!actual - expected)/i;
const VALUE_BELOW = /: ?[|>][-+]?$/;
/** The spec reporter of Node lists its failed tests again below this line. */
const LIST = /^✖ failing tests:$/;
const NO_DETAILS = /\.\.\. FAILED\b/i;

export function shownOutput(outputs: readonly string[]): string {
  const texts = outputs.map(linesOf);
  const lines = texts.flat();
  const isKept = lines.map(() => false);
  const list = Math.max(0, lines.findIndex((line) => LIST.test(line)));
  const earlier = new Set(lines.slice(0, list));
  const isFailed = (at: number): boolean =>
    matchesFailure(lines[at], FAILED_TEST) && (at < list || !earlier.has(lines[at] ?? ""));
  let names = 0;
  for (let at = 0; at < lines.length && names < FAILED_TESTS; at++) {
    if (!isFailed(at)) continue;
    for (const found of [sectionOf(lines, at), at, placeOf(lines, at)]) if (found !== null) isKept[found] = true;
    names++;
  }
  let left = Math.max(FAILURE_LINES - names, BLOCK_LINES - 1);
  for (const at of lines.keys()) {
    const found = isFailed(at) && isKept[at] ? detailsOf(lines, at).filter((one) => !isKept[one]) : [];
    if (found.length > left) continue;
    for (const one of found) isKept[one] = true;
    left -= found.length;
  }
  for (let at = 0; at < lines.length && left > 0; at++) {
    if (isFailed(at) ? !isKept[at] : isKept[at] || !matchesFailure(lines[at], FAILURE)) continue;
    const end = Math.min(lines.length, at + BLOCK_LINES);
    let next = isKept[at] ? at + 1 : at;
    for (; left > 0 && next < end && (next === at || !isFailed(next)) && !PASSED.test(lines[next] ?? ""); next++) {
      if (!isKept[next]) left--;
      isKept[next] = true;
    }
    at = Math.max(at, next - 1);
  }
  const last = texts.map((text) => text.length - 1 - text.findLastIndex((line) => PASS.test(line)));
  const isEnding = last.some((count) => count > 0) || isKept.includes(true);
  keepLast(isKept, texts.map(({ length }, at) => ({ length, most: isEnding ? last[at] ?? 0 : length })));
  const shown: string[] = [];
  let missing = 0, failed = 0;
  for (const [at, line] of [...lines, null].entries()) {
    if (line !== null && !isKept[at]) {
      missing++;
      if (isFailed(at)) failed++;
    } else {
      const tests = failed === 0 ? "" : ` with ${counted(failed, "more failed test")}`;
      if (missing > 0) shown.push(`… ${counted(missing, "more line")}${tests}`);
      [missing, failed] = [0, 0];
      if (line !== null) shown.push(clip(visibleText(line), KEPT_CHARS));
    }
  }
  return shown.join("\n");
}

function keepLast(
  isKept: boolean[],
  texts: readonly { readonly length: number; readonly most: number }[],
): void {
  const ends = texts.map(() => 0);
  for (let left = LAST_LINES, before = 0; left > 0 && left !== before;) {
    before = left;
    for (const [at, { most }] of [...texts.entries()].reverse()) {
      if (left === 0 || ends[at] === most) continue;
      ends[at] = (ends[at] ?? 0) + 1;
      left--;
    }
  }
  let end = 0;
  for (const [at, { length }] of texts.entries()) {
    end += length;
    isKept.fill(true, end - (ends[at] ?? 0), end);
  }
}

function sectionOf(lines: readonly string[], failed: number): number | null {
  for (let at = failed - 1; at >= 0; at--) {
    const name = SECTION.exec((lines[at] ?? "").slice(0, KEPT_CHARS))?.[1];
    if (name !== undefined) return lines[failed]?.includes(name) ? null : at;
  }
  return null;
}

function placeOf(lines: readonly string[], failed: number): number | null {
  for (let at = failed + 1; at < Math.min(lines.length, failed + PLACE_LINES); at++) {
    const line = lines[at] ?? "";
    if (PLACE.test(line)) return at;
    if (PASSED.test(line) || matchesFailure(line, FAILED_TEST)) return null;
  }
  return null;
}

function detailsOf(lines: readonly string[], failed: number): readonly number[] {
  if (NO_DETAILS.test(lines[failed] ?? "")) return [];
  const below = lines.slice(failed + 1, failed + PLACE_LINES);
  const end = below.findIndex((line) => PASSED.test(line) || matchesFailure(line, FAILED_TEST));
  const block = [...(end === -1 ? below : below.slice(0, end)).entries()];
  const values = block.filter(([, line]) => VALUE.test(line));
  const first = block.filter(([, line]) => !PLACE.test(line) && line.trim() !== "---");
  return (values.length < DETAIL_LINES ? first : values).slice(0, DETAIL_LINES).flatMap(([at, line]) =>
    VALUE_BELOW.test(line) ? [failed + 1 + at, failed + 2 + at] : [failed + 1 + at]
  );
}

function matchesFailure(line = "", pattern: RegExp): boolean {
  const text = line.slice(0, KEPT_CHARS);
  return pattern.test(text) && !PASSED.test(text);
}

function linesOf(output: string): readonly string[] {
  const plain = stripVTControlCharacters(output).replaceAll("\r\n", "\n").trimEnd();
  const lines = plain.split("\n").map((line) => line.trimEnd().split("\r").at(-1) ?? "");
  return lines.filter((line) => line.trim() !== "");
}
