import { type Capabilities, type Price, UNKNOWN_MODEL } from "../provider.ts";

export type ModelDataSet = keyof typeof FILES;

/** The facts about a model in the data package. */
interface ModelFacts extends Capabilities {
  readonly name: string;
  /** Maximum reply length in tokens. */
  readonly replyTokens: number | null;
  /** Whether to use OpenAI's Responses API if a service has several APIs. */
  readonly responses: boolean;
}

/** The models of one service. */
export interface ModelData {
  /** Package, version, licence and date. */
  readonly source: string;
  /** The date of its prices, such as 2026-11-20. */
  readonly date: string;
  readonly models: readonly ModelFacts[];
  /** Finds a model by its name, or by its name without a date at the end; null if unknown. */
  find(name: string): ModelFacts | null;
}

/** A row is [context, longest reply, input, output, cached, written, flags, above, input, output, cached, written],
 * where the last five are for long calls. See scripts/generate/model_data.ts. */
type Row = readonly (number | string | null)[];

interface DataFile {
  readonly source: string;
  readonly models: Readonly<Record<string, Row>>;
}

/** Reads one file of a few KB, so that a start loads only the data that its provider needs. */
export async function loadModelData(set: ModelDataSet): Promise<ModelData> {
  const { source, models: rows }: DataFile = (await FILES[set]()).default;
  const find = (name: string): ModelFacts | null => {
    const known = Object.hasOwn(rows, name) ? name : name.replace(/[-@](20\d{2}-?\d{2}-?\d{2}|latest)$/, "");
    const row = Object.hasOwn(rows, known) ? rows[known] : undefined;
    return row === undefined ? null : factsOf(name, row);
  };
  return {
    source,
    date: source.slice(-10),
    find,
    get models() {
      return Object.entries(rows).map(([name, row]) => factsOf(name, row));
    },
  };
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
    responses: flags.includes("s"),
  };
}

function ratesOf([input, output, cached, written]: readonly (number | null | undefined)[]): Price | null {
  if (typeof input !== "number" || typeof output !== "number") return null;
  return { input, output, cached: cached ?? input, ...(typeof written === "number" ? { cacheWrite: written } : {}) };
}

/** Each `import()` names its file literally, so that the bundler finds it. */
const FILES = {
  "openai": () => import("./data/openai.json", { with: { type: "json" } }),
  "anthropic": () => import("./data/anthropic.json", { with: { type: "json" } }),
  "google": () => import("./data/google.json", { with: { type: "json" } }),
  "openrouter": () => import("./data/openrouter.json", { with: { type: "json" } }),
  "github-copilot": () => import("./data/github-copilot.json", { with: { type: "json" } }),
  "zai": () => import("./data/zai.json", { with: { type: "json" } }),
  "alibaba": () => import("./data/alibaba.json", { with: { type: "json" } }),
};
