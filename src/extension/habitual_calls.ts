import type { FunctionSymbol } from "./spec.ts";

/* A habit maps a name of another tool or runtime, which models write by mistake, to a call of Vis. */

/** A key is in small letters, such as "readfile". A value is a call, such as "await search.read(path)". */
export type Habits = Readonly<Record<string, string>>;

/** A name with capitals, such as `readFile`, is a habit, because models omit the namespace. */
export function habitsOf(functions: readonly (readonly [symbol: FunctionSymbol, usage: string])[]): Habits {
  const own = functions.flatMap(([{ name }, usage]) => /[A-Z]/.test(name) ? [[keyOf(name), usage] as const] : []);
  const named = functions.flatMap(([{ insteadOf = [] }, usage]) =>
    insteadOf.map((name) => [keyOf(name), usage] as const)
  );
  return Object.fromEntries([...own, ...named]);
}

export function insteadOf(habits: Habits, name: string): string | null {
  const [key, last] = [keyOf(name), keyOf(name.slice(name.lastIndexOf(".") + 1))];
  for (const one of ROOTS.test(name) ? [key, last] : [key]) {
    if (Object.hasOwn(habits, one)) return habits[one] ?? null;
  }
  return null;
}

function keyOf(name: string): string {
  return name.toLowerCase().replace(/^node:/, "").replace(/[^a-z0-9./]/g, "");
}

const ROOTS =
  /^(?:fsp?|fsPromises|Deno|Bun|process|os|path|child_process|cp|subprocess|shutil|tools?|functions|default_api|self|vscode)\./;

interface FailedBlock {
  readonly name: string;
  readonly excerpt: string;
  readonly source: string;
}

const PYTHON =
  /^[ \t]*(?:(?:async )?def \w+\([^)]*\)[^:\n]*:|class \w+(?:\([\w., ]*\))?:|from [\w.]+ import |import [\w.]+(?: as \w+)?(?:, [\w.]+)*[ \t]*$|(?:for .+ in .+|if .+|elif .+|else|while .+|try|except.*|with .+):[ \t]*(?:#.*)?$|print [^(=])/m;
const PROGRAMS =
  "ls cd cat grep rg find sed awk head tail echo mkdir rm cp mv touch chmod curl wget npm npx pnpm yarn bun deno node python3? pip3? pytest uv go cargo make git bash sh docker"
    .replaceAll(" ", "|");
const COMMAND_LINE = new RegExp(String.raw`^\s*(?:\$ |#!.*\n\s*)?(?:${PROGRAMS})(?:\s+[-\w./~$"'*:]|\s*$)`);
const CALLED = /(?<![\w$.])([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*\(/g;
const READ = /(?<![\w$.])((?:process|Deno|os|import\.meta)\.(?:env|environ)|process\.(?:argv|cwd))\b/;
const MODULE = /\b(?:require|import)\s*\(\s*["']([^"'\n]{1,80})["']|\b(?:from|import)\s+["']([^"'\n]{1,80})["']/;

export function blockHint(habits: Habits, { name, excerpt, source }: FailedBlock): string {
  const [line = ""] = excerpt.split("\n", 1);
  if (name === "SyntaxError" || name === "Refused") {
    const run = insteadOf(habits, "bash");
    if (name === "SyntaxError" && PYTHON.test(source)) return "this is Python: write TypeScript";
    if (name === "SyntaxError" && run !== null && COMMAND_LINE.test(source)) {
      return `this is a command line: write ${run}`;
    }
  } else if (name !== "ReferenceError" && name !== "TypeError") return "";
  const module = MODULE.exec(line)?.slice(1).find((one) => one !== undefined);
  const calls = [...line.matchAll(CALLED)].flatMap(([, called = ""]) =>
    name === "ReferenceError" || ROOTS.test(called) ? [called] : []
  );
  const named = [module, ...calls, READ.exec(line)?.[1]].filter((one) => one !== undefined);
  for (const one of named) {
    const usage = insteadOf(habits, one);
    if (usage !== null && !usage.startsWith(`await ${one}(`)) return `instead of ${one}, write ${usage}`;
  }
  return "";
}

/** Reading a missing member of a text or a list does not throw, so Vis explains the mistake in a hint. */
export type PlainResults = Readonly<Record<string, PlainType>>;
type PlainType = "string" | "list";

export function plainResults(functions: readonly (readonly [name: string, symbol: FunctionSymbol])[]): PlainResults {
  return Object.fromEntries(functions.flatMap(([name, { returns }]) => {
    const type = returns === "string" ? "string" : returns.endsWith("[]") ? "list" : null;
    return type === null ? [] : [[name, type] as const];
  }));
}

const NAME = String.raw`[A-Za-z_$][\w$]*`;
const ARGUMENTS = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;
const MEMBER_OF_CALL = new RegExp(
  String.raw`\(\s*await\s+(${NAME}\.${NAME})\s*${ARGUMENTS}\s*\)\s*\??\.(${NAME})`,
  "g",
);
const TAKEN_FROM_CALL = new RegExp(String.raw`\{([\w$\s,:]{1,200})\}\s*=\s*await\s+(${NAME}\.${NAME})\s*\(`, "g");
const MEMBER = new RegExp(String.raw`(?<![\w$.])(${NAME})\??\.(${NAME})`, "g");
const MEMBERS: Readonly<Record<PlainType, object>> = { string: String.prototype, list: Array.prototype };

export function plainHint(
  source: string,
  { results, typeOf }: { readonly results: PlainResults; readonly typeOf: (name: string) => PlainType | null },
): string {
  const lacks = (type: PlainType | null | undefined, member: string): boolean => !!type && !(member in MEMBERS[type]);
  const words = (what: string, type: PlainType, member: string): string => `${what} a ${type}, which has no ${member}`;
  const ofCall = (call: string): PlainType | undefined => Object.hasOwn(results, call) ? results[call] : undefined;
  const read = [
    ...[...source.matchAll(MEMBER_OF_CALL)].map(([, call = "", member = ""]) => [call, member] as const),
    ...[...source.matchAll(TAKEN_FROM_CALL)].flatMap(([, names = "", call = ""]) =>
      names.split(",").map((one) => [call, one.split(":")[0]?.trim() ?? ""] as const)
    ),
  ];
  for (const [call, member] of read) {
    const type = ofCall(call);
    if (type && member !== "" && lacks(type, member)) return words(`${call} returns`, type, member);
  }
  for (const [, name = "", member = ""] of source.matchAll(MEMBER)) {
    const type = typeOf(name);
    if (type && lacks(type, member) && !isParameter(name, source)) return words(`${name} is`, type, member);
  }
  return "";
}

function isParameter(name: string, source: string): boolean {
  const own = name.replaceAll("$", "\\$");
  return new RegExp(
    String
      .raw`(?<![\w$.])${own}(?![\w$])[^()=;\n]*\)?\s*=>|\b(?:const|let|var)\s+${own}\s+(?:of|in)\b|\bfunction\b[^)]*(?<![\w$.])${own}(?![\w$])`,
  ).test(source);
}

const TOOL_NAME =
  /"(?:tool|tool_name|name|function|action)"\s*:\s*"([^"\\]{1,80})"|<(?:invoke|function|tool_use)\b[ =]+(?:name=)?["']?([\w.:-]{1,80})|\bto=(?:functions\.)?([\w.:-]{1,80})|<tool_call>\s*([\w.:-]{1,80})\(|^\s*<([a-z]\w{1,40})>|^\s*(?:await\s+)?([A-Za-z_][\w.]{1,80})\s*\(/g;
const FENCE = /^[ \t]*(?:`{3,}|~{3,})[ \t]*(bash|sh(?:ell)?|zsh|console|terminal|powershell|python3?|py)\b/im;

export function replyHint(habits: Habits, text: string): string {
  const start = text.slice(0, 20_000);
  for (const found of start.matchAll(TOOL_NAME)) {
    const name = found.slice(1).find((group) => group !== undefined) ?? "";
    const usage = insteadOf(habits, name);
    if (usage !== null) return `instead of ${name}, write ${usage}`;
  }
  const language = FENCE.exec(start)?.[1]?.toLowerCase();
  if (language === undefined) return PYTHON.test(start) ? "this is Python: write TypeScript" : "";
  if (language.startsWith("py")) return "Vis does not run a fence of Python: write TypeScript";
  const usage = insteadOf(habits, "bash");
  return `Vis does not run a fence of ${language}${usage === null ? "" : `: write ${usage}`}`;
}
