import { isAbsolute } from "node:path";

const MAX_DIFF = 64 * 1024;
const CONTEXT = 3;
const MAX_LINES = 500_000;

interface DiffTexts {
  readonly before: string | null;
  readonly after: string | null;
}

export async function unifiedDiff(path: string, { before, after }: DiffTexts): Promise<string> {
  if (before === after) return "";
  const head = diffHead(before === null ? null : path, after === null ? null : path);
  if (haveManyLines([before ?? "", after ?? ""])) {
    const reason = `both texts together have over ${MAX_LINES} lines`;
    return `${head}… the diff is left out, with ${regionCounts(before ?? "", after ?? "")}: ${reason}\n`;
  }
  const [a, b] = [linesOf(before ?? ""), linesOf(after ?? "")];
  const changes = await lineChanges(a.lines, b.lines);
  if (changes.length === 0 && a.ended === b.ended) return head;
  const shown = changes.length > 0 ? changes : lastLine(a.lines);
  const lines = [...hunksOf(shown).flatMap((hunk) => hunkLines(hunk, a, b)), ""].join("\n");
  return bounded(head + lines);
}

/** Null stands for a missing file. */
export function diffHead(from: string | null, to: string | null): string {
  const [a, b] = [from === null ? "/dev/null" : nameInDiff("a", from), to === null ? "/dev/null" : nameInDiff("b", to)];
  return `--- ${a}\n+++ ${b}\n`;
}

/** A prefix such as `a/` would change the meaning of a path that begins with `..` or is absolute. */
function nameInDiff(side: "a" | "b", path: string): string {
  return path.startsWith("../") || isAbsolute(path) ? path : `${side}/${path}`;
}

function haveManyLines(texts: readonly string[]): boolean {
  let count = 0;
  for (const text of texts) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      if (++count > MAX_LINES) return true;
    }
  }
  return false;
}

function regionCounts(before: string, after: string): string {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before.charCodeAt(head) === after.charCodeAt(head)) head++;
  const start = head === 0 ? 0 : before.lastIndexOf("\n", head - 1) + 1;
  let tail = 0;
  const most = shorter - start;
  while (tail < most && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) {
    tail++;
  }
  const isWhole = [before, after].every((text) => {
    const at = text.length - tail;
    return at === start || text[at - 1] === "\n";
  });
  const end = before.indexOf("\n", before.length - tail);
  const kept = isWhole ? tail : end < 0 ? 0 : before.length - 1 - end;
  const [removed, added] = [before, after].map((text) => {
    const part = text.slice(start, text.length - kept);
    return part.split("\n").length - (part === "" || part.endsWith("\n") ? 1 : 0);
  });
  return counts(added ?? 0, removed ?? 0);
}

function counts(added: number, removed: number): string {
  return `+${added} −${removed} lines`;
}

interface Lines {
  readonly lines: readonly string[];
  readonly ended: boolean;
}

function linesOf(text: string): Lines {
  const lines = text.split("\n");
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  else lines.push(`${lines.pop() ?? ""}\n`);
  return { lines, ended };
}

function lastLine(lines: readonly string[]): readonly LineChange[] {
  const at = Math.max(0, lines.length - 1);
  return [{ from: at, to: lines.length, newFrom: at, newTo: lines.length }];
}

function hunksOf(changes: readonly LineChange[]): readonly (readonly LineChange[])[] {
  const hunks: LineChange[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1);
    if (last && change.from - (last.at(-1)?.to ?? 0) <= CONTEXT * 2) last.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function hunkLines(hunk: readonly LineChange[], a: Lines, b: Lines): readonly string[] {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (!first || !last) return [];
  const from = Math.max(0, first.from - CONTEXT);
  const to = Math.min(a.lines.length, last.to + CONTEXT);
  const newFrom = first.newFrom - (first.from - from);
  const newTo = last.newTo + (to - last.to);
  const body: string[] = [];
  let at = from;
  for (const change of hunk) {
    for (const line of a.lines.slice(at, change.from)) body.push(...marked(" ", line));
    for (const line of a.lines.slice(change.from, change.to)) body.push(...marked("-", line));
    for (const line of b.lines.slice(change.newFrom, change.newTo)) body.push(...marked("+", line));
    at = change.to;
  }
  for (const line of a.lines.slice(at, to)) body.push(...marked(" ", line));
  return [`@@ -${span(from, to)} +${span(newFrom, newTo)} @@`, ...body];
}

function span(from: number, to: number): string {
  if (to - from === 1) return `${from + 1}`;
  return `${to > from ? from + 1 : from},${to - from}`;
}

function marked(mark: string, line: string): string[] {
  return line.endsWith("\n") ? [`${mark}${line.slice(0, -1)}`, "\\ No newline at end of file"] : [`${mark}${line}`];
}

export function bounded(text: string, most = MAX_DIFF): string {
  if (text.length <= most) return text;
  const end = text.lastIndexOf("\n", most);
  const kept = text.slice(0, end < most / 2 ? most : end).toWellFormed();
  const rest = text.slice(kept.length);
  const [added, removed] = ["\n+", "\n-"].map((mark) => rest.split(mark).length - 1);
  return `${kept}\n… ${rest.length} characters of the diff left out, with ${counts(added ?? 0, removed ?? 0)}\n`;
}

interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

const MAX_DISTANCE = 1_000;

export async function lineChanges(a: readonly string[], b: readonly string[]): Promise<readonly LineChange[]> {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [oldEnd, newEnd] = [a.length - tail, b.length - tail];
  if (head === oldEnd && head === newEnd) return [];
  const whole = { from: head, to: oldEnd, newFrom: head, newTo: newEnd };
  if (head === oldEnd || head === newEnd) return [whole];
  const { diffArrays } = await import("diff");
  const parts = diffArrays(a.slice(head, oldEnd), b.slice(head, newEnd), { maxEditLength: MAX_DISTANCE });
  return parts === undefined ? [whole] : changesOf(parts, head);
}

interface Part {
  readonly added: boolean;
  readonly removed: boolean;
  readonly count: number;
}

function changesOf(parts: readonly Part[], head: number): readonly LineChange[] {
  const found: LineChange[] = [];
  let [x, y, isOpen] = [head, head, false];
  for (const { added, removed, count } of parts) {
    const [to, newTo] = [added ? x : x + count, removed ? y : y + count];
    if (added || removed) {
      const { from, newFrom } = (isOpen ? found.pop() : undefined) ?? { from: x, newFrom: y };
      found.push({ from, to, newFrom, newTo });
    }
    [x, y, isOpen] = [to, newTo, added || removed];
  }
  return found;
}
