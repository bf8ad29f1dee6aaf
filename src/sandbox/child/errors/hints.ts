import { nearestName } from "../../../domain/kit/names.ts";

/** What is known about the code that threw. */
export interface HintFacts {
  /** The text of the block. */
  readonly whole: string;
  /** The same from the line that threw. */
  readonly source: string;
  /** Names that a block can use: functions with their alias, and variables. */
  readonly names: readonly string[];
  /** Names that the block itself declares. */
  readonly own: readonly string[];
  /** Whether a call of this path gives a promise. */
  readonly isAsync: (path: string) => boolean;
}

type Hint = (found: RegExpExecArray, facts: HintFacts) => string;

const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$]*`;
const PATH = String.raw`${NAME}(?:\.${NAME})*`;

const CALL = new RegExp(String.raw`(?<![\p{ID_Continue}$.])(${PATH})\(`, "gu");

const HINTS: readonly (readonly [RegExp, Hint])[] = [
  [new RegExp(`^(${NAME}) is not defined$`, "u"), ([, name = ""], facts) => undefinedName(name, facts)],
  [/^(require|fetch) is not a function$/, ([, name = ""], { names }) => absentHint(name, names)],
  [
    /^Cannot (?:read properties of undefined \(reading|set properties of undefined \(setting) '([^']+)'\)$/,
    ([, key = ""], { source, names }) => absentOwner(key, { source, names }),
  ],
  [
    new RegExp(`^(${NAME})(?:\\.${NAME})? is not a function$`, "u"),
    ([, root = ""], { names }) => membersOf(root, names),
  ],
  [/^Cannot add property (\S+), object is not extensible$/, ([, key = ""], { source }) => prototypeHint(key, source)],
  [
    new RegExp(
      String
        .raw`^(${PATH})(?:\(\.\.\.\)(?:\.${NAME})? is not (?:a function|iterable)| is not a function or its return value)`,
      "u",
    ),
    ([, path = ""], { isAsync }) => isAsync(path) ? `${path}(…) gives a promise: (await ${path}(…))` : "",
  ],
  [
    new RegExp(String.raw`^(${NAME})(?:\.${NAME})? is not (?:a function|iterable)`, "u"),
    ([, name = ""], facts) => promiseHint(name, facts),
  ],
  [
    /^Cannot access '(.+)' before initialization$/,
    ([, name = ""]) =>
      `this block declares ${name} later or in this statement: to use the value that it had, assign without const or let`,
  ],
  [/^Cannot read properties of (?:undefined|null)|is not (?:a function|iterable)/, (_, facts) => forgottenAwait(facts)],
  [/^\(intermediate value\).* is not a function$/, (_, { whole }) => continuedLine(whole)],
];

/** What to write instead, for errors whose cause the model cannot see; "" for others. */
export function hintOf(message: string, facts: HintFacts): string {
  for (const [pattern, hint] of HINTS) {
    // deno-lint-ignore vis/no-message-parsing -- errors of the engine have no codes
    const found = pattern.exec(message);
    const text = found ? hint(found, facts) : "";
    if (text !== "") return text;
  }
  return "";
}

function undefinedName(name: string, { source, names, own }: HintFacts): string {
  const escaped = name.replace(/\$/g, "\\$");
  const [line = ""] = source.split("\n", 1);
  const loop = new RegExp(String.raw`\bfor\s*\(\s*${escaped}\s*(=|of\b|in\b)`, "u").exec(line);
  if (loop) return `declare it: for (let ${name} ${loop[1]} …`;
  const assigned = new RegExp(String.raw`(?<![\p{ID_Continue}$.])${escaped}\s*=(?![=>])\s*([^;\n]{0,40})`, "u").exec(
    line,
  );
  if (assigned) {
    const value = assigned[1]?.trim() ?? "";
    return `declare it: let ${name} = ${/^[\w.]+$/.test(value) ? value : "…"}`;
  }
  if (own.includes(name)) return "";
  if (names.includes(name)) return "an earlier block declared it, and it has no value now: declare it again";
  if (ASKING.test(name)) return "to ask the user, end with the question as the final answer";
  const absent = absentHint(name, names);
  if (absent !== "") return absent;
  const near = nearestName(name, names.filter((known) => !own.includes(known)));
  return near ? `did you mean ${near}?` : "";
}

/** What other runtimes have, and what asks the user there. */
const ABSENT =
  /^(?:require|fetch|process|Deno|Bun|Buffer|module|exports|__dirname|__filename|os|path|https?|axios|requests|child_process|execSync|window|document|navigator)$/;
const ASKING = /^(?:prompt|ask|askUser|input|confirm|alert|readline)$/;

function absentHint(name: string, names: readonly string[]): string {
  if (!ABSENT.test(name) || names.includes(name)) return "";
  const roots = new Set(names.flatMap((one) => one.includes(".") ? [one.slice(0, one.indexOf("."))] : []));
  const scope = roots.size === 0 ? "" : `: ${[...roots].join(", ")}`;
  return `there is no ${name}: what a block may use is in scope already${scope}`;
}

/** A name of another runtime, which is `undefined`, whose key is read or set. */
function absentOwner(key: string, { source, names }: Pick<HintFacts, "source" | "names">): string {
  const [line = ""] = source.split("\n", 1);
  const found = new RegExp(String.raw`(?<![\p{ID_Continue}$.])(${NAME})\.${key.replace(/\W/g, "\\$&")}`, "gu");
  return [...line.matchAll(found)].map(([, owner = ""]) => absentHint(owner, names)).find((hint) => hint !== "") ?? "";
}

/** The functions of a namespace, if something is called that it does not have. */
function membersOf(root: string, names: readonly string[]): string {
  if (names.includes(root)) return "";
  const members = names.filter((name) => name.startsWith(`${root}.`)).map((name) => name.slice(root.length + 1));
  return members.length > 0 ? `${root} has ${members.join(", ")}` : "";
}

function prototypeHint(key: string, source: string): string {
  const owner = new RegExp(String.raw`([\w$]+)\.prototype\s*(?:\.|\[["'])${key.replace(/\W/g, "\\$&")}`).exec(source)
    ?.[1];
  return owner ? `${owner}.prototype cannot be extended in the sandbox: declare a function, such as ${key}(value)` : "";
}

/** A variable that a statement of the block gave what a call returned, without await. */
function promiseHint(name: string, { whole, isAsync }: HintFacts): string {
  const given = new RegExp(String.raw`(?<![\p{ID_Continue}$.])${name.replace(/\$/g, "\\$")}\s*=\s*(${PATH})\(`, "u");
  const path = given.exec(whole)?.[1];
  return path && isAsync(path) ? `${name} is a promise: ${name} = await ${path}(…)` : "";
}

/** A call in the line that threw whose promise was used as if it were the result. */
function forgottenAwait({ source, isAsync }: HintFacts): string {
  const [line = ""] = source.split("\n", 1);
  if (/\bPromise\./.test(line)) return "";
  for (const { 1: path = "", index } of line.matchAll(CALL)) {
    if (isAsync(path) && !/\bawait\s+\(?$/.test(line.slice(0, index))) {
      return `${path}(…) gives a promise: await ${path}(…)`;
    }
  }
  return "";
}

function continuedLine(whole: string): string {
  return /^[^\n]*[^\s;{}\n]\s*\n\s*[([`]/m.test(whole)
    ? "the next line begins with a bracket and continues this one: end this line with a semicolon"
    : "";
}
