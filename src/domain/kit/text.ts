export function counted(count: number | bigint, one: string, digits = String(count)): string {
  if (Number(count) === 1) return `1 ${one}`;
  return `${digits} ${
    /[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : /(?:ch|ss)$/.test(one) ? `${one}es` : `${one}s`
  }`;
}

export function dollarText(usd: number): string {
  return `$${/\.\d$/.test(String(usd)) ? usd.toFixed(2) : usd}`;
}

export function countedChoice(count: number, one: string, from = 1): string {
  if (count === 0 && from > 0) return `no ${one}`;
  return `${counted(count, one)}; choose ${count === from ? count : `${from} to ${count}`}`;
}

export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = Math.max(0, limit - 24);
  const head = text.slice(0, kept).replace(/[\ud800-\udbff]$/, "");
  return `${head}… (+${text.length - head.length} chars)`;
}

/** `limit` counts UTF-16 units. A cut text ends with "…", and not within a surrogate pair. */
export function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, Math.max(0, limit - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}

export function oneLine(text: string, limit: number): string {
  const flat = text.slice(0, limit * 4).replace(/\s+/g, " ").trim();
  return shorten(text.length <= limit * 4 ? flat : `${flat}…`, limit);
}

export function someOf(texts: readonly string[], most = 5, between = ", "): string {
  const more = texts.length > most ? ` and ${texts.length - most} more` : "";
  return `${texts.slice(0, most).join(between)}${more}`;
}

/** These invisible characters change their neighbours: joiners of emoji, and variation selectors of emoji, keycaps and
 * Han characters. */
const PARTS = [
  String.raw`(?<=[\p{ExtPict}\p{EMod}]\ufe0f?)\u200d(?=\p{ExtPict})`,
  String.raw`(?<=\p{ExtPict})[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
].join("|");

export const HIDDEN_CHARACTERS = new RegExp(
  String.raw`[^\P{Cc}\t\n]|[\u2028\u2029\ufff9-\ufffb]|(?!${PARTS})\p{DI}`,
  "gu",
);

/** Inside a JSON string, the escapes keep the meaning of the text. */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN_CHARACTERS, escaped);
}

function escaped(char: string): string {
  return char.length === 1 ? unit(char, 0) : unit(char, 0) + unit(char, 1);
}

function unit(char: string, at: number): string {
  return `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`;
}

// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Keeps some invisible characters, such as joiners that some scripts need. For untrusted text, use `visibleText`. */
export function harmlessText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(COMMANDS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// deno-lint-ignore no-control-regex
const TERMINAL_CODES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_=>])/g;

/** Removes escape sequences. Of a line with carriage returns, only the last part that is not empty stays. */
export function terminalText(output: string): string {
  const lines = output.replace(TERMINAL_CODES, "").split("\n");
  return lines.map((line) => line.split("\r").findLast((part) => part !== "") ?? "").join("\n");
}

export function localTime(at: number, to: "day" | "minute" | "second" | "ms" = "minute"): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * MINUTE);
  return local.toISOString().replace("T", " ").slice(0, { day: 10, minute: 16, second: 19, ms: 23 }[to]);
}

export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < MINUTE) return "now";
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min`;
  if (passed < DAY) return `${Math.floor(passed / HOUR)} h`;
  if (passed < 30 * DAY) return `${Math.floor(passed / DAY)} d`;
  return localTime(at, "day");
}

export function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : elapsedText(ms);
}

export function elapsedText(ms: number, digits = 1): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${(ms / 1000).toFixed(digits)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function runningText(ms: number): string {
  return elapsedText(Math.floor(ms / 1000) * 1000, 0);
}

export function shellText(words: readonly string[]): string {
  return words.map((word) => /^[\w\-./:=,+@%^]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

interface CommandFacts {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export function commandText(command: string | readonly string[], given: CommandFacts): string {
  const facts = commandFacts(given);
  const text = typeof command === "string" ? command : shellText(command);
  return facts.length === 0 ? text : `${facts.join(", ")}: ${text}`;
}

export function commandFacts({ cwd = "", env = {}, input = "" }: CommandFacts): readonly string[] {
  const variables = Object.entries(env).map(([key, value]) => `${key}=${shellText([value])}`);
  return [
    cwd === "" || cwd === "." ? "" : `in ${shellText([cwd])}`,
    variables.length === 0 ? "" : `with ${variables.join(" ")}`,
    input === "" ? "" : `with the input of ${input.length} characters ${JSON.stringify(input)}`,
  ].filter((fact) => fact !== "");
}
