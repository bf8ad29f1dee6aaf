export interface JournalRow {
  readonly number: number;
  readonly code: string;
  readonly failed: boolean;
  readonly outcome: string;
}

export interface IndexRow {
  readonly name: string;
  readonly declaration: string;
  readonly shown: string;
  readonly doc: string;
}

export interface ReadContext {
  readonly handover: string;
  readonly journal: readonly JournalRow[];
  readonly variables: ReadonlyMap<string, IndexRow>;
}

const HEADER = /^\[iter \d+\/\d+\].*/m;
const TIME = / {2}\(\d+(?:\.\d+)?m?s(?: SLOW)?\)$/;
const FAILED = /^(?:ERROR|REFUSED|TIMEOUT|KILLED|OUT OF MEMORY|CANCELLED) /;
const INDEX_ROW = /^(const|let|var|function|class) (.+?)(?: {2}\/\/ (?:v\d+(?: to v\d+)?)? ?(.*))?$/;
const SINGLE = /^([\p{ID_Start}$_][\p{ID_Continue}$]*)(?:(?: = |: )(.*)|(\(.*|.*))$/su;

export function readContext(text: string): ReadContext {
  const [header] = HEADER.exec(text) ?? [];
  if (header === undefined) throw new SyntaxError("Cannot read the context: it has no [iter n/m] line");
  const mark = markOf(text);
  const section = (tag: string): string => sectionOf(text, tag);
  const rows = section("var_index").split("\n").flatMap(indexRow);
  return {
    handover: section("handover"),
    journal: journalRows(section("journal"), mark),
    variables: new Map(rows.map((row) => [row.name, row])),
  };
}

export function markOf(text: string): string {
  return / with (~\d+) are of Vis/.exec(text.split("\n", 1)[0] ?? "")?.[1] ?? "";
}

export function sectionOf(text: string, name: string): string {
  const tag = `${name}${markOf(text)}`;
  const start = text.indexOf(`\n<${tag}>\n`);
  const end = text.indexOf(`\n</${tag}>`, start + 1);
  return start === -1 || end === -1 ? "" : text.slice(start + tag.length + 4, end);
}

function journalRows(body: string, mark: string): JournalRow[] {
  const row = new RegExp(`^ {2}\\[(\\d+)${mark}\\] (.*)$`, "s");
  const word = mark === "" ? "" : `${mark} `;
  return body.split(new RegExp(`^(?= {2}\\[\\d+${mark}\\] )`, "m")).flatMap((part) => {
    const [, number, rest = ""] = row.exec(part.trimEnd()) ?? [];
    if (number === undefined) return [];
    const [main = ""] = rest.split(`\n      stdout${mark}: `);
    const arrow = main.indexOf(` ${word}→ `);
    const code = arrow === -1 ? main : main.slice(0, arrow);
    const outcome = arrow === -1 ? "" : main.slice(arrow + 3 + word.length).replace(TIME, "");
    const failed = FAILED.test(outcome);
    return [{ number: Number(number), code, failed, outcome: outcome.replace(FAILED, "") }];
  });
}

function indexRow(line: string): IndexRow[] {
  const [, declaration, text = "", doc = ""] = INDEX_ROW.exec(line) ?? [];
  const [, name, value, signature] = SINGLE.exec(text) ?? [];
  return declaration === undefined || name === undefined
    ? []
    : [{ name, declaration, shown: value ?? signature ?? "", doc }];
}
