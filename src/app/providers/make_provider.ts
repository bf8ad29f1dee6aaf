import type { Advice } from "../../providers/advice.ts";
import { loadModelData, type ModelData } from "../../providers/models/model_data.ts";
import { PRESETS } from "../../providers/models/presets.ts";
import { type Capabilities, type Price, type Provider, UNKNOWN_MODEL } from "../../providers/provider.ts";
import type { ResolvedProvider } from "./resolve_provider.ts";

export interface MadeProvider {
  readonly provider: Provider;
  /** True if the data package or the configuration describes the model. */
  knows(model: string): boolean;
}

type OwnModel = ResolvedProvider["models"][number];

export const FREE_PRICE = { input: 0, output: 0, cached: 0 };

/** Makes a provider without sending a request. Throws `ConfigError` for settings that no request can be made with. */
export async function makeProvider(resolved: ResolvedProvider, defaultModel: string): Promise<MadeProvider> {
  const data = resolved.data === null ? null : await loadModelData(resolved.data);
  const capabilities = (model: string) => capabilitiesOf(model, { resolved, data });
  const knows = (model: string) =>
    data?.find(model) !== null && data !== null || resolved.models.some(({ name }) => name === model);
  return { provider: await create(resolved, { defaultModel, capabilities, data }), knows };
}

/** Capabilities of a model: the configuration overrides the data, which overrides the defaults for any model. */
export function capabilitiesOf(
  model: string,
  { resolved, data }: { readonly resolved: ResolvedProvider; readonly data: ModelData | null },
): Capabilities {
  const known: Capabilities = data?.find(model) ??
    (resolved.local ? { ...UNKNOWN_MODEL, price: FREE_PRICE } : UNKNOWN_MODEL);
  const own = resolved.models.find(({ name }) => name === model);
  if (own === undefined) return known;
  const { price } = own;
  return {
    ...known,
    contextTokens: own.contextTokens ?? known.contextTokens,
    price: price ? priceOf(price) : known.price,
    nativeReasoning: own.reasoning ?? known.nativeReasoning,
    images: own.images ?? known.images,
    alternatingRoles: own.alternatingRoles ?? known.alternatingRoles,
  };
}

function priceOf({ input, output, cached = input, cacheWrite }: NonNullable<OwnModel["price"]>): Price {
  return { input, output, cached, ...(cacheWrite === undefined ? {} : { cacheWrite }) };
}

async function create(
  resolved: ResolvedProvider,
  { defaultModel, capabilities, data }: {
    readonly defaultModel: string;
    readonly capabilities: (model: string) => Capabilities;
    readonly data: ModelData | null;
  },
): Promise<Provider> {
  const { name, baseUrl, key, headers } = resolved;
  const isBearer = resolved.preset !== null && PRESETS[resolved.preset]?.bearerName === key.from; // then in the headers
  const { createProvider } = await import("../../providers/wire/create_provider.ts");
  if (resolved.need === "device-login") {
    const [{ CopilotProvider }, { copilotEndpoints }] = await Promise.all([
      import("../../providers/copilot/copilot.ts"),
      import("../../providers/copilot/endpoints.ts"),
    ]);
    return new CopilotProvider({
      name,
      defaultModel,
      capabilities,
      headers,
      endpoints: copilotEndpoints(key.domain ?? "github.com"),
      githubToken: key.value ?? "",
      usesResponses: (model) => data?.find(model)?.responses ?? false,
      create: createProvider,
    });
  }
  return await createProvider(resolved.protocol, {
    name,
    baseUrl,
    headers,
    defaultModel,
    capabilities,
    token: resolved.plain ? key.value ?? "" : () => Promise.resolve(isBearer ? null : key.value),
    advice: adviceOf(resolved),
  });
}

function adviceOf({ name, preset, plain, addressFrom, key: { from } }: ResolvedProvider): Advice {
  const ofPreset = addressFrom || (preset === null ? null : `the base URL of ${preset}`);
  if (plain) return { key: from || "VIS_API_KEY", baseUrl: ofPreset ?? "VIS_BASE_URL", model: "VIS_MODEL" };
  return {
    key: ["", "auth.json", "typed"].includes(from) ? `the key (vis auth login ${name})` : from,
    baseUrl: addressFrom ||
      (ofPreset === null ? `the baseUrl of ${name} in config.jsonc` : `the base URL of ${name}`),
    model: `the model (vis models --provider ${name})`,
  };
}
