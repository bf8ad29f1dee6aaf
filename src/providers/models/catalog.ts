/** https://models.dev/api.json defines the format. */
import { z } from "zod";
import { inputFault } from "../../domain/input_fault.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import { type DataFile, MODEL_DATA_SETS, type ModelDataSet, type Row } from "./model_data.ts";

/** A subscription has no price per token. */
const SUBSCRIPTIONS: readonly ModelDataSet[] = ["github-copilot", "alibaba"];
const LIMITS = { values: 2_000_000, depth: 20 };

const tokens = z.number().int().min(0).max(1e9);
const dollars = z.number().min(0).max(10_000);
const Cost = z.object({
  input: dollars,
  output: dollars,
  cache_read: dollars.optional(),
  cache_write: dollars.optional(),
});
const Model = z.object({
  id: z.string().regex(/^[\w./:@+-]{1,200}$/),
  reasoning: z.boolean().default(false),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }).optional(),
  cost: Cost.extend({ context_over_200k: Cost.optional() }).optional(),
  limit: z.object({ context: tokens, output: tokens }),
});
const Service = z.object({ models: z.record(z.string(), z.unknown()) });
const LONG = 200_000;

export function readCatalog(text: string, source: string): ReadonlyMap<ModelDataSet, DataFile> {
  const services = z.record(z.string(), z.unknown()).safeParse(readForeignJson(text, LIMITS));
  if (!services.success) throw new Error("It is not an object of services");
  const found = new Map<ModelDataSet, DataFile>();
  for (const set of MODEL_DATA_SETS) {
    if (!Object.hasOwn(services.data, set)) continue;
    const service = Service.safeParse(services.data[set]);
    if (!service.success) throw new Error(`${set} has no models`);
    const models = Object.entries(service.data.models).flatMap(([name, raw]) => rowOf({ set, name, raw }));
    if (models.length > 0) found.set(set, { source, models: Object.fromEntries(models) });
  }
  if (found.size === 0) throw new Error(`It has none of the services ${MODEL_DATA_SETS.join(", ")}`);
  return found;
}

function rowOf({ set, name, raw }: { readonly set: ModelDataSet; readonly name: string; readonly raw: unknown }) {
  const model = Model.safeParse(raw, { error: inputFault });
  if (!model.success) {
    const [{ path, message } = { path: [], message: "" }] = model.error.issues;
    throw new Error(`${path.join(".")} of ${set} ${name.slice(0, 80)} ${message}`);
  }
  const { id, reasoning, modalities, cost, limit: { context, output } } = model.data;
  if (context === 0 || modalities?.output.includes("text") === false) return [];
  // A price of 0 may mean an unknown price, so a model is free only if its id ends with `:free`.
  const isPriced = cost && !SUBSCRIPTIONS.includes(set) && (cost.input + cost.output > 0 || id.endsWith(":free"));
  const flags = `${reasoning ? "r" : ""}${modalities?.input.includes("image") ? "i" : ""}`;
  const above = isPriced && cost.context_over_200k && context > LONG ? [LONG, ...rates(cost.context_over_200k)] : [];
  const row: Row = [context, output || null, ...isPriced ? rates(cost) : Array(4).fill(null), flags, ...above];
  return [[id, row] as const];
}

function rates(cost: z.infer<typeof Cost>): readonly (number | null)[] {
  return [cost.input, cost.output, cost["cache_read"] ?? cost.input, cost["cache_write"] || null];
}
