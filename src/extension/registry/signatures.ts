import { z } from "zod";
import { schemaText } from "../schema_text.ts";
import type { FunctionSymbol } from "../spec.ts";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** Types that JSON Schema cannot express. Other types name themselves: `.meta({ tsType: "Uint8Array" })`. */
const BEYOND_JSON: Readonly<Record<string, string>> = {
  date: "Date",
  bigint: "bigint",
  map: "Map<unknown, unknown>",
  set: "Set<unknown>",
  undefined: "undefined",
  symbol: "symbol",
};
/** Cached: printing a schema takes a millisecond, and prompts are rendered for each query. */
const PARAMETERS = new WeakMap<FunctionSymbol, string>();

/** Returns one line of TypeScript for a function symbol, built from its zod tuple: `search.find(query: string,
 * options?: {limit?: number}): Promise<string>`. */
export function signatureOf(alias: string, symbol: FunctionSymbol): string {
  const parameters = PARAMETERS.get(symbol) ?? parametersOf(symbol);
  PARAMETERS.set(symbol, parameters);
  return `${alias}.${symbol.name}(${parameters}): Promise<${symbol.returns}>`;
}

type Item = z.core.JSONSchema.BaseSchema;

function parametersOf(symbol: FunctionSymbol): string {
  const root: Item = z.toJSONSchema(symbol.args, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const name = BEYOND_JSON[zodSchema._zod.def.type];
      if (name) jsonSchema["tsType"] = name;
    },
  });
  const items = (root.prefixItems ?? []).map(itemOf);
  const names = parameterNames(items);
  const parameters = items.map((item, at) =>
    `${names[at]}${at < (root.minItems ?? 0) && !("default" in item) ? "" : "?"}: ${schemaText(item, { root })}`
  );
  if (typeof root.items === "object") {
    const rest = itemOf(root.items);
    parameters.push(`...${nameOf(rest) ?? "rest"}: ${schemaText({ type: "array", items: rest }, { root })}`);
  }
  return parameters.join(", ");
}

function itemOf(item: unknown): Item {
  return typeof item === "object" ? item as Item : {};
}

/** An item's own name, or else one derived from its type; names are unique. */
function parameterNames(items: readonly Item[]): string[] {
  const names: string[] = [];
  for (const item of items) {
    const wanted = nameOf(item) ?? (item.type === "object" ? "options" : `arg${names.length + 1}`);
    names.push(names.includes(wanted) ? `${wanted}${names.length + 1}` : wanted);
  }
  return names;
}

function nameOf({ title, description }: Item): string | null {
  return [title, description].find((one) => one !== undefined && IDENTIFIER.test(one)) ?? null;
}
