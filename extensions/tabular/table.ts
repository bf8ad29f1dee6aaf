/** The sandbox evaluates this module, so it must be self-contained. */

type Row = Readonly<Record<string, unknown>>;
/** A model may pass the path of a table by mistake. */
const PATH = /^[^\s,;"]+\.(?:csv|tsv|txt)$/i;

type Rows = readonly (Row | readonly unknown[])[];

/** Values stay text. Without `separator`, the parser detects comma, semicolon or tab. */
export function parse(
  text: string,
  { separator, header = true }: { readonly separator?: string; readonly header?: boolean } = {},
): (Record<string, string> | string[])[] {
  if (typeof text !== "string") {
    throw refused(
      `Cannot parse CSV: the value is of type ${typeof text}, not string`,
      "pass the text, such as await fs.readFile(path)",
    );
  }
  if (PATH.test(text)) {
    throw refused(
      `Cannot parse CSV: ${text} looks like a path`,
      `pass the text of the file, such as await fs.readFile(${JSON.stringify(text)})`,
    );
  }
  const records = recordsOf(text.replace(/^\ufeff/, ""), separator ?? separatorOf(text));
  if (!header) return records;
  const [names = [], ...rest] = records;
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw refused(`Cannot parse CSV: two columns have the name ${JSON.stringify(twice)}`, "use {header: false}");
  }
  return rest.map((record, at) => {
    if (record.length <= names.length) {
      return Object.fromEntries(names.map((name, column) => [name, record[column] ?? ""]));
    }
    throw refused(
      `Cannot parse CSV: record ${at + 2} has ${record.length} fields, but the header has ${names.length}`,
      "quote separators inside fields, or use {header: false}",
    );
  });
}

export function csv(rows: Rows, { separator = "," }: { readonly separator?: string } = {}): string {
  return listed(rows).map((fields) => {
    const line = fields.map((field) => quoted(textOf(field), separator)).join(separator);
    return line === "" && fields.length === 1 ? '""\n' : `${line}\n`;
  }).join("");
}

export function markdown(rows: Rows, columns?: readonly string[]): string {
  const [head = [], ...body] = listed(rows, columns);
  const line = (fields: readonly unknown[]): string => `| ${fields.map(cell).join(" | ")} |`;
  const marks = head.map((_, at) => body.length > 0 && body.every((row) => isNumber(row[at])) ? "---:" : "---");
  return [line(head), `| ${marks.join(" | ")} |`, ...body.map(line)].join("\n");
}

export function number(value: number | bigint, digits?: number): string {
  const [minimumFractionDigits, maximumFractionDigits] = digits === undefined ? [0, 3] : [digits, digits];
  return new Intl.NumberFormat("en-US", { minimumFractionDigits, maximumFractionDigits }).format(value);
}

function recordsOf(text: string, separator: string): string[][] {
  if (separator.length !== 1) {
    throw refused(
      `Cannot parse CSV: the separator ${JSON.stringify(separator)} is not a single character`,
      'pass one such as ";"',
    );
  }
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const isQuoted = text[at] === '"';
    const [field, end] = isQuoted
      ? quotedField(text, { from: at, record: records.length + 1 })
      : plainField(text, at, separator);
    record.push(field);
    at = end;
    if (text[at] === separator) {
      at++;
      if (at === text.length) record.push("");
      continue;
    }
    if (at < text.length && text[at] !== "\n" && text[at] !== "\r") {
      throw refused(
        `Cannot parse CSV: record ${records.length + 1} has text after a closing quote`,
        "double each quote inside a quoted field, or pass the right separator",
      );
    }
    at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    if (record.length > 1 || record[0] !== "" || isQuoted) records.push(record);
    record = [];
  }
  if (record.length > 0) records.push(record);
  return records;
}

function plainField(text: string, from: number, separator: string): [string, number] {
  let end = from;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end++;
  return [text.slice(from, end), end];
}

function quotedField(
  text: string,
  { from, record }: { readonly from: number; readonly record: number },
): [string, number] {
  let end = text.indexOf('"', from + 1);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) {
    throw refused(`Cannot parse CSV: record ${record} has a quote that is not closed`, "add the closing quote");
  }
  return [text.slice(from + 1, end).replaceAll('""', '"'), end + 1];
}

function separatorOf(text: string): string {
  const [first = ""] = text.split(/\r?\n/, 1);
  const outside = first.replace(/"[^"]*"/g, "");
  const count = (mark: string): number => outside.split(mark).length;
  return [",", ";", "\t"].reduce((best, mark) => count(mark) > count(best) ? mark : best);
}

function listed(rows: Rows, columns?: readonly string[]): (readonly unknown[])[] {
  if (!Array.isArray(rows)) {
    throw refused(`Cannot make a table: the rows are of type ${typeof rows}, not a list`, "pass a list");
  }
  if (columns !== undefined && !Array.isArray(columns)) {
    throw refused(
      `Cannot make a table: the columns are of type ${typeof columns}, not a list of names`,
      'call tables.markdown(rows, ["a", "b"])',
    );
  }
  const isLists = rows.length > 0 && rows.every((row) => Array.isArray(row));
  if (isLists) return columns ? [columns, ...rows] : [...rows];
  const wrong = rows.findIndex((row) => typeof row !== "object" || row === null || Array.isArray(row));
  if (wrong >= 0) {
    throw refused(`Cannot make a table: row ${wrong + 1} is not a plain object`, "pass only objects, or only lists");
  }
  const names = columns ?? [...new Set(rows.flatMap((row: Row) => Object.keys(row)))];
  return names.length === 0 ? [] : [names, ...rows.map((row: Row) => names.map((name) => row[name]))];
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function quoted(text: string, separator: string): string {
  return text.includes(separator) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cell(value: unknown): string {
  return textOf(value).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/\r?\n/g, "<br>");
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

function refused(message: string, advice: string): TypeError {
  return Object.assign(new TypeError(`${message}; ${advice}`), { advice });
}
