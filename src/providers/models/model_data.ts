import { plainTextFile } from "../../domain/kit/files.ts";
import { type Capabilities, UNKNOWN_MODEL } from "../provider.ts";
import type { Price } from "../provider.ts";

export type ModelDataSet = keyof typeof FILES;

interface ModelFacts extends Capabilities {
  readonly name: string;
  readonly replyTokens: number | null;
  readonly responses: boolean;
}

export interface ModelData {
  readonly source: string;
  readonly date: string;
  readonly models: readonly ModelFacts[];
  /** Without a row for a name that ends in a date or `latest`, looks for the name before that ending. */
  find(name: string): ModelFacts | null;
}

/** The values of a row are context, longest reply, input, output, cached, written and flags. A row with other prices
 * for long calls appends the number of tokens above which they apply, input, output, cached and written. */
export type Row = readonly (number | string | null)[];

export interface DataFile {
  readonly source: string;
  readonly models: Readonly<Record<string, Row>>;
}

/** If Vis's own folder has refreshed data, the newer data of a model has precedence over the older data, except for
 * `responses`. */
export async function loadModelData(set: ModelDataSet, home: string | null = null): Promise<ModelData> {
  const builtIn: DataFile = (await FILES[set]()).default;
  const refreshed = home === null ? null : await refreshedData(set, home);
  const files = [builtIn, ...refreshed ? [refreshed] : []].sort((a, b) => dateOf(a) < dateOf(b) ? 1 : -1);
  const [newest = builtIn] = files;
  const find = (name: string): ModelFacts | null => {
    for (const known of [name, name.replace(/[-@](20\d{2}-?\d{2}-?\d{2}|latest)$/, "")]) {
      const row = files.map(({ models }) => Object.hasOwn(models, known) ? models[known] : undefined).find(Boolean);
      if (row !== undefined) return { ...factsOf(name, row), responses: usesResponses(builtIn, known) };
    }
    return null;
  };
  return {
    source: newest.source,
    date: dateOf(newest),
    find,
    get models() {
      const names = [...new Set(files.flatMap(({ models }) => Object.keys(models)))];
      return names.flatMap((name) => find(name) ?? []);
    },
  };
}

export function refreshedPath(set: ModelDataSet, home: string): string {
  return `${home}/models/${set}.json`;
}

async function refreshedData(set: ModelDataSet, home: string): Promise<DataFile | null> {
  try {
    const { source, models }: DataFile = JSON.parse(await plainTextFile(refreshedPath(set, home)));
    const isWhole = DATE.test(source) && Object.values(models).every((row) => Array.isArray(row) && row.length >= 7);
    return isWhole ? { source, models } : null;
  } catch {
    return null;
  }
}

const DATE = /\d{4}-\d{2}-\d{2}$/;

function dateOf({ source }: DataFile): string {
  return DATE.exec(source)?.[0] ?? "";
}

function usesResponses({ models }: DataFile, name: string): boolean {
  return Object.hasOwn(models, name) && String(models[name]?.[6] ?? "").includes("s");
}

function factsOf(name: string, row: Row): ModelFacts {
  const [context, reply, input, output, cached, written, _flags, tokens, ...long] = row.map((field) =>
    typeof field === "number" ? field : null
  );
  const flags = String(row[6] ?? "");
  const rates = ratesOf([input, output, cached, written]);
  const above = typeof tokens === "number" ? ratesOf(long) : null;
  const price = rates && above && typeof tokens === "number" ? { ...rates, above: { ...above, tokens } } : rates;
  return {
    ...UNKNOWN_MODEL,
    name,
    contextTokens: context ?? null,
    replyTokens: reply ?? null,
    price,
    nativeReasoning: flags.includes("r"),
    images: flags.includes("i"),
    responses: false,
  };
}

function ratesOf([input, output, cached, written]: readonly (number | null | undefined)[]): Price | null {
  if (typeof input !== "number" || typeof output !== "number") return null;
  return { input, output, cached: cached ?? input, ...(typeof written === "number" ? { cacheWrite: written } : {}) };
}

/** The bundler finds a file only if an `import()` names the file literally. */
const FILES = {
  "openai": () => import("./data/openai.json", { with: { type: "json" } }),
  "anthropic": () => import("./data/anthropic.json", { with: { type: "json" } }),
  "google": () => import("./data/google.json", { with: { type: "json" } }),
  "openrouter": () => import("./data/openrouter.json", { with: { type: "json" } }),
  "github-copilot": () => import("./data/github-copilot.json", { with: { type: "json" } }),
  "zai": () => import("./data/zai.json", { with: { type: "json" } }),
  "alibaba": () => import("./data/alibaba.json", { with: { type: "json" } }),
};

export const MODEL_DATA_SETS = Object.keys(FILES) as readonly ModelDataSet[];
