/** Differences between plain Deno and the sandbox that a decision explains. */
import type { Difference } from "./program.ts";

export interface Explanation {
  readonly what: string;
  readonly where: string;
  readonly fits: (difference: Difference) => boolean;
}

const SANDBOX = "docs/internals/sandbox.md", PROTOCOL = "docs/internals/protocol.md";
const ABSENT =
  /\b(?:WebAssembly|SharedArrayBuffer|Atomics|Deno|fetch|process|Buffer|navigator|Worker|set(?:Immediate)|localStorage|alert|Event|EventTarget|Blob|ReadableStream|MessageChannel|reportError|typeof global|ShadowRealm|window|self)\b/;
const STRINGS = /\beval\b|\bFunction\s*\(|\b(?:Async|Generator)\w*Function\b|\.constructor\(/;

const MODULE = /\bimport\.(?:defer|source)\b|^\s*(?:import\s*(?:["'{*]|\w+\s*(?:,|from\b))|export\b)/m;

const code = ({ program }: Difference): string => `${program.text}\n${program.value ?? ""}`;
const says = (pattern: RegExp) => ({ sandbox }: Difference): boolean => pattern.test(sandbox.message);

/** The first match explains a difference. */
export const EXPLANATIONS: readonly Explanation[] = [
  {
    what: "no code from strings: eval, constructors of functions",
    where: SANDBOX,
    fits: (one) => says(/^Code generation from strings|^eval is not defined/)(one) || STRINGS.test(code(one)),
  },
  {
    what: "a block is not a module: import, export, import.meta",
    where: `${SANDBOX}#typescript-in-blocks`,
    fits: (one) =>
      says(/^import(?:\(\)|\.meta)? is not available|^A block is not a module/)(one) ||
      MODULE.test(code(one)),
  },
  {
    what: "the parser of the sandbox refuses what the standard asks to refuse, and V8 does not",
    where: "docs/decisions/11-libraries.md",
    fits: ({ program, sandbox }) => program.refusedWith !== undefined && sandbox.error === program.refusedWith,
  },
  {
    what: "Deno's own parser refuses escapes in a property name that is a reserved word",
    where: "docs/decisions/11-libraries.md",
    fits: ({ plain, sandbox }) => sandbox.error === "" && plain.message.includes("EscapeInReservedWord"),
  },
  {
    what: "no decorators, no accessor fields",
    where: `${SANDBOX}#typescript-in-blocks`,
    fits: says(/^Decorators are not available|^accessor fields are not available/),
  },
  {
    what: "a block that is only a string, or has nothing to run, is refused",
    where: `${PROTOCOL}#how-blocks-run`,
    fits: says(/^The block (?:is only a string|has nothing to run)/),
  },
  {
    what: "a small mistake is repaired and reported",
    where: `${PROTOCOL}#the-reply`,
    fits: ({ plain, sandbox }) => plain.error === "SyntaxError" && typeof sandbox.repaired === "string",
  },
  {
    what: "`arguments` outside of functions is refused before the block runs",
    where: `${PROTOCOL}#how-blocks-run`,
    fits: (one) => one.plain.error !== "" && says(/^arguments exists only inside a function/)(one),
  },
  {
    what: "as in a script, a block may declare a function twice",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: ({ plain, sandbox }) => sandbox.error === "" && /^Identifier '.*' has already been/.test(plain.message),
  },
  {
    what: "a name with a character that only a newer engine allows is refused before the block runs",
    where: `${PROTOCOL}#how-blocks-run`,
    fits: ({ plain, sandbox }) => plain.error === "SyntaxError" && /^Cannot use the name/.test(sandbox.message),
  },
  {
    what: "globals of the platform that are absent",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: (one) => ABSENT.test(code(one)) && !says(/^Cannot declare|is not a function$/)(one),
  },
  {
    what: "the global object has another class, as it is emptied",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: ({ plain, sandbox }) =>
      plain.message !== sandbox.message && plain.message.replace("#<Window>", "#<Object>") === sandbox.message,
  },
  {
    what: "variables at top level are properties of the global object",
    where: `${SANDBOX}#speed-of-blocks`,
    fits: (one) => /\bglobalThis\b/.test(code(one)) && one.sandbox.error === "",
  },
  {
    what: "timers of the sandbox have their own words",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: (one) => one.plain.error === one.sandbox.error && says(/^Cannot start a timer/)(one),
  },
  {
    what: "types are stripped, not checked",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: ({ program, plain, sandbox }) =>
      program.language === "ts" && plain.error === "SyntaxError" && sandbox.error === "",
  },
  {
    what: "namespaces are refused, with what to write instead",
    where: `${SANDBOX}#typescript-in-blocks`,
    fits: says(/^namespace is not available/),
  },
  {
    what: "a name of the top level can be assigned and read at any time, as by a later block",
    where: `${SANDBOX}#functions-for-blocks`,
    fits: ({ place, plain }) =>
      place === "top" &&
      /Assignment to constant variable|Cannot access '.*' before initialization/.test(plain.message + plain.printed),
  },
  {
    what: "the memory of a child is limited",
    where: `${SANDBOX}#limits-of-the-sandbox`,
    fits: ({ sandbox }) => sandbox.error === "memory",
  },
];

export function explanationOf(difference: Difference): Explanation | null {
  return EXPLANATIONS.find(({ fits }) => fits(difference)) ?? null;
}
