import { leftOut } from "../domain/query/work_summary.ts";

export interface DiffFile {
  readonly path: string;
  readonly movedFrom: string | null;
  readonly state: "changed" | "new" | "deleted";
  /** `added` and `removed` include lines that the diff omits. */
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
}

export type DiffLine =
  | { readonly kind: "added" | "removed" | "same"; readonly number: number; readonly spans: readonly DiffSpan[] }
  | { readonly kind: "gap" }
  | { readonly kind: "note"; readonly text: string };

export interface DiffSpan {
  readonly text: string;
  readonly changed: boolean;
}

const PLACE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const GIT_HEAD =
  /^(?:diff |index |Index:|={9}|(?:new|deleted) file mode |(?:old|new) mode |similarity |dissimilarity )/;

export function parseDiff(diff: string): readonly DiffFile[] {
  const files: FileReader[] = [];
  let current: FileReader | null = null;
  const open = (): FileReader => {
    current = new FileReader();
    files.push(current);
    return current;
  };
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const file: FileReader = current ?? open();
    if (file.takesLine(line)) continue;
    const begins = line.startsWith("diff ") || line.startsWith("--- ");
    (begins && file.isNamed(line) ? open() : file).head(line);
  }
  return files.map((file) => file.read()).filter((file) => file.path !== "" || file.lines.length > 0);
}

class FileReader {
  #before: string | null = "";
  #after: string | null = "";
  #git = false;
  readonly #lines: DiffLine[] = [];
  readonly #notes: string[] = [];
  #added = 0;
  #removed = 0;
  #at = { before: 0, after: 0 };
  #left = { before: 0, after: 0 };

  takesLine(line: string): boolean {
    if (line.startsWith("\\ ") && this.#lines.length > 0) {
      this.#lines.push({ kind: "note", text: line.slice(2) });
      return true;
    }
    if (this.#left.before <= 0 && this.#left.after <= 0) return false;
    if (line.startsWith("+")) {
      this.#added++;
      this.#left.after--;
      this.#add("added", this.#at.after++, line);
    } else if (line.startsWith("-")) {
      this.#removed++;
      this.#left.before--;
      this.#add("removed", this.#at.before++, line);
    } else if (line.startsWith(" ") || line === "") {
      this.#left.before--;
      this.#left.after--;
      this.#at.before++;
      this.#add("same", this.#at.after++, line);
    } else return false;
    return true;
  }

  isNamed(line: string): boolean {
    const isNamed = this.#before !== "" || this.#after !== "" || this.#lines.length > 0;
    return line.startsWith("--- ") ? isNamed && !(this.#git && this.#before === "") : isNamed || this.#git;
  }

  head(line: string): void {
    const place = PLACE.exec(line);
    if (place) {
      const [, before, many = "1", after, more = "1"] = place;
      if (this.#lines.length > 0) this.#lines.push({ kind: "gap" });
      this.#at = { before: Number(before), after: Number(after) };
      this.#left = { before: Number(many), after: Number(more) };
    } else if (line.startsWith("--- ")) this.#before = pathOf(line);
    else if (line.startsWith("+++ ")) this.#after = pathOf(line);
    else if (line.startsWith("rename from ")) this.#before = line.slice(12);
    else if (line.startsWith("rename to ")) this.#after = line.slice(10);
    else if (line.startsWith("diff ")) this.#git = true;
    else if (!GIT_HEAD.test(line) && line !== "") this.#note(line);
  }

  read(): DiffFile {
    const [before, after] = [this.#before, this.#after];
    const more = leftOut(`${this.#notes.join("\n")}\n`);
    return {
      path: after || before || "",
      movedFrom: before && after && before !== after ? before : null,
      state: before === null ? "new" : after === null ? "deleted" : "changed",
      added: this.#added + more.added,
      removed: this.#removed + more.removed,
      lines: marked(this.#lines),
    };
  }

  #note(text: string): void {
    this.#left = { before: 0, after: 0 };
    const [, path] = /^Binary file (.*) (?:removed|replaced)$/.exec(text) ?? [];
    if (path !== undefined) this.#before = this.#after = path;
    this.#notes.push(text);
    const words = path === undefined ? text : `binary file ${text.split(" ").at(-1) ?? ""}`;
    this.#lines.push({ kind: "note", text: words });
  }

  #add(kind: "added" | "removed" | "same", number: number, line: string): void {
    this.#lines.push({ kind, number, spans: [{ text: line.slice(1), changed: false }] });
  }
}

function pathOf(line: string): string | null {
  const name = line.slice(4).replace(/\t.*$/, "");
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

type ChangedLine = Extract<DiffLine, { readonly number: number }>;

function marked(lines: readonly DiffLine[]): readonly DiffLine[] {
  const out = [...lines];
  for (let at = 0; at < lines.length;) {
    const removed = runOf(lines, at, "removed");
    const added = runOf(lines, at + removed.length, "added");
    for (const [n, one] of removed.entries()) {
      const other = added[n];
      const spans = other && wordChanges(textOf(one), textOf(other));
      if (!other || !spans) continue;
      out[at + n] = { ...one, spans: spans.before };
      out[at + removed.length + n] = { ...other, spans: spans.after };
    }
    at += Math.max(1, removed.length + added.length);
  }
  return out;
}

function runOf(lines: readonly DiffLine[], from: number, kind: "added" | "removed"): readonly ChangedLine[] {
  const run: ChangedLine[] = [];
  for (let at = from; at < lines.length; at++) {
    const line = lines[at];
    if (line?.kind !== kind) break;
    run.push(line);
  }
  return run;
}

function textOf({ spans }: ChangedLine): string {
  return spans.map(({ text }) => text).join("");
}

const WORDS = /[\p{L}\p{N}_$]+|\s+|[^]/gu;
const MOST_WORDS = 300;
const LEAST_SHARED = 0.4;

function wordChanges(
  before: string,
  after: string,
): { readonly before: readonly DiffSpan[]; readonly after: readonly DiffSpan[] } | null {
  const [a, b] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return null;
  const kept = commonWords(a, b);
  const weigh = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.trim().length, 0);
  const shared = weigh(a.filter((_, at) => kept.before.has(at)));
  if (shared < LEAST_SHARED * Math.min(weigh(a), weigh(b)) || shared === 0) return null;
  return { before: spansOf(a, kept.before), after: spansOf(b, kept.after) };
}

function commonWords(a: readonly string[], b: readonly string[]) {
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const [before, after] = [new Set<number>(), new Set<number>()];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      before.add(i++);
      after.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return { before, after };
}

function spansOf(words: readonly string[], kept: ReadonlySet<number>): readonly DiffSpan[] {
  const spans: { text: string; changed: boolean }[] = [];
  for (const [at, text] of words.entries()) {
    const between = text.trim() === "" && at > 0 && at < words.length - 1 && !kept.has(at - 1) && !kept.has(at + 1);
    const changed = !kept.has(at) || between;
    const last = spans.at(-1);
    if (last?.changed === changed) last.text += text;
    else spans.push({ text, changed });
  }
  return spans;
}

export function diffCounts({ added, removed }: Pick<DiffFile, "added" | "removed">): string {
  return [added > 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter((part) => part !== "").join(" ");
}

export function diffTitle({ path, movedFrom, state }: Pick<DiffFile, "path" | "movedFrom" | "state">): string {
  const name = movedFrom === null ? path : `${movedFrom} → ${path}`;
  return state === "changed" ? name : `${name} (${state})`;
}
