/** One executed block as a policy sees it. */
export interface JournalRow {
  /** 1-based. */
  readonly number: number;
  readonly code: string;
  readonly failed: boolean;
  /** The value's preview, or the error's text. */
  readonly outcome: string;
  readonly stdout: string;
}

/** One row of the variable index. */
export interface IndexRow {
  readonly name: string;
  /** Declaration keyword: const, let, var, function or class. */
  readonly declaration: string;
  /** Value, shape or signature as shown. */
  readonly shown: string;
  readonly versions: number;
  /** The text after the version: the first line of the comment before the declaration. */
  readonly doc: string;
}

/** The last message of a call, parsed from its text alone, as a model would read it. */
export interface ReadContext {
  /** 1-based. */
  readonly iteration: number;
  readonly budget: number;
  readonly notes: string;
  readonly thinking: string;
  readonly handover: string;
  readonly journal: readonly JournalRow[];
  readonly attempts: readonly string[];
  readonly variables: ReadonlyMap<string, IndexRow>;
  readonly nudges: readonly string[];
}

const HEADER = /^\[iter (\d+)\/(\d+)\]$/m;
const TIME = / {2}\(\d+(?:\.\d+)?m?s(?: SLOW)?\)$/;
const FAILED = /^(?:ERROR|REFUSED|TIMEOUT|KILLED|OUT OF MEMORY|CANCELLED) /;
const INDEX_ROW = /^(const|let|var|function|class) (.+?) {2}\/\/ v(\d+)(?: to v\d+)?(?: (.*))?$/;
const SINGLE = /^([\p{ID_Start}$_][\p{ID_Continue}$]*)(?:(?: = |: )(.*)|(\(.*|.*))$/su;
const NUMBERED = /^(.+): (.*) ×(\d+)$/s;
const MAX_NUMBERED = 100_000;

/** Throws `SyntaxError` if the text is not a context message. */
export function readContext(text: string): ReadContext {
  const header = HEADER.exec(text);
  if (header === null) throw new SyntaxError("Cannot read the context: it has no [iter n/m] line");
  return {
    iteration: Number(header[1]),
    budget: Number(header[2]),
    notes: section(text, "notes"),
    thinking: section(text, "prior_thinking"),
    handover: section(text, "handover"),
    journal: journalRows(section(text, "journal")),
    attempts: section(text, "attempts").split("\n").filter((line) => line !== ""),
    variables: indexRows(section(text, "var_index")),
    nudges: text.split("\n").flatMap((line) => line.startsWith("[system_nudge] ") ? [line.slice(15)] : []),
  };
}

function section(text: string, tag: string): string {
  const start = text.indexOf(`\n<${tag}>\n`);
  const end = text.indexOf(`\n</${tag}>`, start + 1);
  return start === -1 || end === -1 ? "" : text.slice(start + tag.length + 4, end);
}

function journalRows(body: string): JournalRow[] {
  return body.split(/^(?= {2}\[\d+\] )/m).flatMap((part) => {
    const [, number, rest = ""] = /^ {2}\[(\d+)\] (.*)$/s.exec(part.trimEnd()) ?? [];
    if (number === undefined) return [];
    const [main = "", stdout = ""] = rest.split("\n      stdout: ");
    const arrow = main.indexOf(" → ");
    const code = arrow === -1 ? main : main.slice(0, arrow);
    const outcome = arrow === -1 ? "" : main.slice(arrow + 3).replace(TIME, "");
    const failed = FAILED.test(outcome);
    return [{ number: Number(number), code, failed, outcome: outcome.replace(FAILED, ""), stdout }];
  });
}

function indexRows(body: string): Map<string, IndexRow> {
  const rows = body.split("\n").flatMap((line): IndexRow[] => {
    const [, declaration = "", text = "", versions, doc = ""] = INDEX_ROW.exec(line) ?? [];
    if (versions === undefined) return [];
    const facts = { declaration, versions: Number(versions), doc };
    const numbered = NUMBERED.exec(text);
    if (numbered) {
      const [, names = "", shown = ""] = numbered;
      return names.split(", ").flatMap(spread).map((name) => ({ ...facts, name, shown }));
    }
    const [, name, value, signature] = SINGLE.exec(text) ?? [];
    return name === undefined ? [] : [{ ...facts, name, shown: value ?? signature ?? "" }];
  });
  return new Map(rows.map((row) => [row.name, row]));
}

/** Expands names like `f0 … f48`. */
function spread(names: string): string[] {
  const [first = "", last] = names.split(" … ");
  const [, head = "", from = "", tail = ""] = /^(.*?)(\d+)(\D*)$/.exec(first) ?? [];
  const to = last === undefined ? "" : /(\d+)\D*$/.exec(last)?.[1] ?? "";
  if (from === "" || to === "") return [first];
  const count = Math.min(MAX_NUMBERED, Number(to) - Number(from) + 1);
  const width = from.startsWith("0") ? from.length : 0;
  return Array.from({ length: count }, (_, at) => head + String(Number(from) + at).padStart(width, "0") + tail);
}
