import type { CallAction } from "../domain/query/host_call.ts";
import type { Part } from "./active_extensions.ts";
import { habitsOf, plainResults } from "./habitual_calls.ts";
import { signatureOf } from "./signatures.ts";
import type { EnvironmentView, FunctionSymbol, Topic, ValueSymbol } from "./spec.ts";
import { ActionShape, asFunction, type NormalExtension, scriptsOf } from "./validate.ts";

export interface OwnPart extends Omit<Part, "nudges"> {
  readonly extension: NormalExtension;
  readonly symbols: ReadonlyMap<string, FunctionSymbol | ValueSymbol>;
  readonly listed: readonly Topic[];
}

const MADE = new WeakMap<NormalExtension, { readonly block: string; readonly part: OwnPart }>();

export type PartRequest = Partial<EnvironmentView>;

export function ownPart(extension: NormalExtension, prompt: string, request: PartRequest = {}): OwnPart {
  const block = promptBlock(extension, prompt, request);
  const made = MADE.get(extension);
  if (made?.block === block) return made.part;
  const part = makePart(extension, block);
  MADE.set(extension, { block, part });
  return part;
}

export function promptFor(
  { prompt, readOnly }: NormalExtension,
  { onlyReads = false }: PartRequest,
): NormalExtension["prompt"] {
  return onlyReads && typeof readOnly === "object" ? asFunction(readOnly.prompt) : prompt;
}

function makePart(extension: NormalExtension, block: string): OwnPart {
  const { namespace, version, alias: { alias }, allow, globals = [], example } = extension;
  const symbols = extension.symbols.map((symbol) => [`${alias}.${symbol.name}`, symbol] as const);
  const functions = symbols.flatMap(([name, symbol]) => symbol.kind === "function" ? [[name, symbol] as const] : []);
  return {
    extension,
    symbols: new Map(symbols),
    list: [{ namespace, version }],
    functions: functions.map(([name]) => name),
    actions: Object.fromEntries(functions.flatMap(([name, { action }]) => action ? [[name, wordsBy(action)]] : [])),
    untimed: functions.flatMap(([name, { untimed }]) => untimed ? [name] : []),
    misnamed: Object.fromEntries(functions.flatMap(([name, { misnamed }]) => misnamed ? [[name, misnamed]] : [])),
    reads: (name, args, request) =>
      functions.some(([own, symbol]) =>
        own === name && (request.onlyReads && symbol.inPlans || onlyReads(symbol, extension, args))
      ),
    constants: Object.fromEntries(symbols.flatMap(([name, one]) => one.kind === "value" ? [[name, one.value]] : [])),
    grants: { net: [], read: [], write: [], env: [], ...allow },
    recorders: extension.watchFiles ? [alias] : [],
    globals,
    modules: scriptsOf(extension),
    blocks: block === "" ? [] : [block],
    habits: habitsOf(functions.map(([, symbol]) => [symbol, symbol.usage ?? exampleOf(alias, symbol)])),
    plain: plainResults(functions),
    listed: symbols.map(([name, symbol]) => ({ name, doc: symbol.doc })),
    example,
    doc: (wanted) => {
      if (wanted === alias || Object.hasOwn(extension.modules ?? {}, wanted)) {
        return [extension.doc, block, unshownLines(extension)].filter((text) => text !== "").join("\n");
      }
      const found = symbols.find(([name]) => name === wanted);
      return found ? symbolDoc(alias, found[1]) : null;
    },
  };
}

const SHOWN = 12;
const EXAMPLE_BUDGET = 1_000;
const MAX_INLINE = 80;

function promptBlock(extension: NormalExtension, prompt: string, request: PartRequest): string {
  const { onlyReads = false } = request;
  const { alias } = extension.alias;
  const full = extension.shown ?? SHOWN;
  if (full === 0 && prompt.trim() === "") return "";
  const symbols = extension.symbols.filter((symbol) => !onlyReads || isForPlans(symbol, extension));
  if (extension.symbols.length > 0 && symbols.length === 0) return "";
  const possible = symbols.filter((symbol) => !isUnlisted(symbol, request));
  const shown = possible.slice(0, full);
  const rest = possible.slice(full).map((symbol) => symbol.name);
  const head = [`## ${alias}`, ...(prompt.trim() === "" ? [] : [prompt.trim()])];
  const lines = shown.map((symbol) => symbolLine(alias, symbol));
  let length = [...head, ...lines].join("\n").length;
  const described = lines.map((line, at) => {
    const symbol = shown[at];
    const example = symbol?.kind === "function" ? symbol.examples?.[0] : undefined;
    if (example === undefined || length + example.length + 8 > EXAMPLE_BUDGET) return line;
    length += example.length + 8;
    return `${line}\n  e.g. ${example}`;
  });
  const more = rest.length > 0 ? [`More (doc): ${rest.join(", ")}`] : [];
  return [...head, ...described, ...more].join("\n");
}

function unshownLines({ alias: { alias }, symbols, shown }: NormalExtension): string {
  return shown === 0 ? symbols.map((symbol) => symbolLine(alias, symbol)).join("\n") : "";
}

function symbolDoc(alias: string, symbol: FunctionSymbol | ValueSymbol): string {
  if (symbol.kind === "value") return symbolLine(alias, symbol);
  const examples = symbol.examples?.length ? symbol.examples : [exampleOf(alias, symbol)];
  return [signatureOf(alias, symbol), symbol.doc, ...examples.map((example) => `e.g. ${example}`)].join("\n");
}

function symbolLine(alias: string, symbol: FunctionSymbol | ValueSymbol): string {
  const doc = symbol.doc.replace(/\s*\n\s*/g, " ");
  if (symbol.kind === "function") return `${brief(signatureOf(alias, symbol))}  // ${doc}`;
  const text = JSON.stringify(symbol.value) ?? "undefined";
  return `${alias}.${symbol.name}${text.length <= MAX_INLINE ? ` = ${text}` : `: ${typeof symbol.value}`}  // ${doc}`;
}

function brief(signature: string): string {
  return signature.replace(/: (?:string|number|boolean)(?=[,)}])/g, "")
    .replaceAll("string | string[]", "string|string[]")
    .replace(/\boptions\?: (?=\{(?:\w+\?[^{},]*(?:, |\}))+)/g, "")
    .replace(/Promise<(.*)>$/, "$1");
}

function exampleOf(alias: string, symbol: FunctionSymbol): string {
  const signature = signatureOf(alias, symbol);
  const parameters = signature.slice(signature.indexOf("(") + 1, signature.lastIndexOf("): Promise<"));
  const names = [...topLevel(parameters)].map((parameter) => parameter.slice(0, parameter.indexOf(":")).trim());
  const required = names.filter((name) => name !== "" && !name.endsWith("?") && !name.startsWith("..."));
  return `await ${alias}.${symbol.name}(${required.join(", ")})`;
}

function* topLevel(list: string): Generator<string> {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    if ("{[(<".includes(list.charAt(at))) depth++;
    if ("}])>".includes(list.charAt(at))) depth--;
    if (list.charAt(at) !== "," || depth > 0) continue;
    yield list.slice(start, at);
    start = at + 1;
  }
  yield list.slice(start);
}

function isUnlisted(symbol: FunctionSymbol | ValueSymbol, request: PartRequest): boolean {
  if (symbol.kind === "value" || typeof symbol.unlisted !== "function") {
    return symbol.kind === "function" && symbol.unlisted === true;
  }
  try {
    return symbol.unlisted(request as EnvironmentView) === true;
  } catch {
    return false;
  }
}

function isForPlans(symbol: FunctionSymbol | ValueSymbol, extension: NormalExtension): boolean {
  if (symbol.kind === "value") return true;
  return symbol.inPlans === true || typeof symbol.reads === "function" || onlyReads(symbol, extension, []);
}

function onlyReads(
  { name, reads }: FunctionSymbol,
  { readOnly }: NormalExtension,
  args: readonly unknown[],
): boolean {
  if (typeof reads !== "function") return reads ?? (readOnly === true || readOnly?.symbols.includes(name) === true);
  try {
    return reads(...args) === true;
  } catch {
    return false; // No schema has checked the arguments yet, so the function may throw.
  }
}

function wordsBy(action: NonNullable<FunctionSymbol["action"]>): (args: readonly unknown[]) => CallAction | null {
  if (typeof action !== "function") return () => action;
  return (args) => {
    try {
      const words = action(...args);
      return ActionShape.safeParse(words).success ? words : null;
    } catch {
      return null; // No schema has checked the arguments yet, so the function may throw.
    }
  };
}
