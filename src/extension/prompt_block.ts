import type { Part } from "./active.ts";
import { signatureOf } from "./signatures.ts";
import type { FunctionSymbol, ValueSymbol } from "./spec.ts";
import { type NormalExtension, scriptsOf } from "./validate.ts";

/** What an extension contributes to a query, without what depends on the environment. */
export interface OwnPart extends Omit<Part, "nudges"> {
  readonly extension: NormalExtension;
  /** By their names in the realm. */
  readonly symbols: ReadonlyMap<string, FunctionSymbol | ValueSymbol>;
}

/** With the prompt that each was made for. */
const MADE = new WeakMap<NormalExtension, { readonly prompt: string; readonly part: OwnPart }>();

/** Made again only for another prompt: most queries have that of the query before. */
export function ownPart(extension: NormalExtension, prompt: string): OwnPart {
  const made = MADE.get(extension);
  if (made?.prompt === prompt) return made.part;
  const part = makePart(extension, prompt);
  MADE.set(extension, { prompt, part });
  return part;
}

function makePart(extension: NormalExtension, prompt: string): OwnPart {
  const { namespace, version, alias: { alias }, allow, globals = [], example } = extension;
  const symbols = extension.symbols.map((symbol) => [`${alias}.${symbol.name}`, symbol] as const);
  const functions = symbols.flatMap(([name, symbol]) => symbol.kind === "function" ? [[name, symbol] as const] : []);
  const block = promptBlock(extension, prompt);
  return {
    extension,
    symbols: new Map(symbols),
    list: [{ namespace, version }],
    functions: functions.map(([name]) => name),
    actions: Object.fromEntries(functions.flatMap(([name, { action }]) => action ? [[name, action]] : [])),
    untimed: functions.flatMap(([name, { untimed }]) => untimed ? [name] : []),
    reads: functions.flatMap(([name, symbol]) => onlyReads(symbol, extension) ? [name] : []),
    constants: Object.fromEntries(symbols.flatMap(([name, one]) => one.kind === "value" ? [[name, one.value]] : [])),
    grants: { net: [], read: [], write: [], env: [], ...allow },
    globals,
    modules: scriptsOf(extension),
    blocks: block === "" ? [] : [block],
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

/** How many symbols are shown in full; the rest are only named. */
const SHOWN = 12;
/** Examples are added while the block is shorter than this, in characters. */
const EXAMPLE_BUDGET = 1_000;
const MAX_INLINE = 80;

/** What the model reads about one active extension: header, prompt, one line per symbol. Empty if no symbol is shown
 * and the prompt is empty. */
function promptBlock(extension: NormalExtension, prompt: string): string {
  const { alias } = extension.alias;
  const full = extension.shown ?? SHOWN;
  if (full === 0 && prompt.trim() === "") return "";
  const shown = extension.symbols.slice(0, full);
  const rest = extension.symbols.slice(full).map((symbol) => symbol.name);
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

/** The lines of the symbols that a block leaves out because it shows none; "" if it shows some. */
function unshownLines({ alias: { alias }, symbols, shown }: NormalExtension): string {
  return shown === 0 ? symbols.map((symbol) => symbolLine(alias, symbol)).join("\n") : "";
}

/** A symbol with its doc line and all of its examples, as `doc()` shows it. */
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

/** A signature without the obvious: plain types, the name of the options, the promise. Every call carries it; `doc()`
 * shows the full one. */
function brief(signature: string): string {
  return signature.replace(/: (?:string|number|boolean)(?=[,)}])/g, "")
    .replaceAll("string | string[]", "string|string[]")
    .replace(/\boptions\?: (?=\{(?:\w+\?[^{},]*(?:, |\}))+)/g, "")
    .replace(/Promise<(.*)>$/, "$1");
}

/** `await search.find(query)`, with the required parameters of the signature. */
function exampleOf(alias: string, symbol: FunctionSymbol): string {
  const signature = signatureOf(alias, symbol);
  const parameters = signature.slice(signature.indexOf("(") + 1, signature.lastIndexOf("): Promise<"));
  const names = [...topLevel(parameters)].map((parameter) => parameter.slice(0, parameter.indexOf(":")).trim());
  const required = names.filter((name) => name !== "" && !name.endsWith("?") && !name.startsWith("..."));
  return `await ${alias}.${symbol.name}(${required.join(", ")})`;
}

/** The parts of a parameter list, split at commas outside brackets. */
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

/** As the function says; otherwise, what a read-only workspace may have only reads. */
function onlyReads({ name, reads }: FunctionSymbol, { readOnly }: NormalExtension): boolean {
  return reads ?? (readOnly === true || readOnly?.symbols.includes(name) === true);
}
