import type { FunctionSymbol, ValueSymbol } from "../spec.ts";
import { scriptsOf } from "../realm_scripts.ts";
import type { NormalExtension } from "../validate_extension.ts";
import type { Part } from "./join_parts.ts";
import { onlyReads } from "./only_reads.ts";
import { promptBlock, symbolDoc, unshownLines } from "./prompt_block.ts";

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
