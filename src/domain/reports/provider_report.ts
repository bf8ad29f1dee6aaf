import { z } from "zod";
import type { Frozen } from "./frozen.ts";

/** Providers, keys and models as channels show them. None of these contain a key. */

export const KeyReportSchema = z.object({
  provider: z.string(),
  title: z.string(),
  /** "device-login" for a login on a web page, "optional" for servers that need no key. */
  need: z.enum(["required", "optional", "device-login"]),
  from: z.string().describe('A variable, auth.json, or ""'),
  address: z.string().optional().describe("Where the key goes, if a variable moves it there; or why it does not"),
  shown: z.string().describe("The last characters of the key, masked"),
  /** How to fix a missing key; "" if nothing needs to be done. */
  fix: z.string(),
});

export type KeyReport = Frozen<z.infer<typeof KeyReportSchema>>;

/** A provider that the user can log in to. */
export interface LoginChoice {
  readonly name: string;
  readonly title: string;
  /** "optional" for a local server, which needs no key. */
  readonly need: KeyReport["need"];
  /** How to start a local server that does not run; absent if it runs. */
  readonly start?: string;
}

/** How a service responds to a key before it is saved; "unknown" if it could not be reached. */
export interface KeyTrial {
  readonly state: "works" | "refused" | "unknown";
  readonly found: string;
}

/** A server with OpenAI's chat format; `key` is "" if it needs none. */
export interface NewServer {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

export interface ServerTrial {
  readonly models: readonly string[];
  /** Why there are none; "" if there are. */
  readonly problem: string;
  /** Whether it rejected the key. */
  readonly refused: boolean;
}

export const ProvidersReportSchema = z.object({
  providers: z.array(z.object({
    name: z.string(),
    title: z.string(),
    protocol: z.string(),
    baseUrl: z.string(),
    /** The default model; null if a model must be named. */
    model: z.string().nullable(),
    root: z.boolean().describe("Whether queries use it now"),
    key: KeyReportSchema,
    reach: z.object({ ok: z.boolean(), found: z.string() }).nullable().describe("Null if it was not checked"),
  })),
  problem: z.string().describe('Why no query can run; "" if one can'),
  notes: z.array(z.string()),
});

export type ProvidersReport = Frozen<z.infer<typeof ProvidersReportSchema>>;
export type ProviderReport = ProvidersReport["providers"][number];

const rates = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number(),
  cacheWrite: z.number().optional(),
});

export const ModelsReportSchema = z.object({
  provider: z.string(),
  /** Where the list of models comes from. */
  source: z.enum(["service", "data", "config"]),
  /** Why the list is not from the service, or where the data is from. */
  detail: z.string(),
  prices: z.string().optional().describe("The day of the bundled prices, if there are any for this provider"),
  models: z.array(z.object({
    name: z.string(),
    contextTokens: z.number().nullable(),
    price: rates.extend({
      above: rates.extend({ tokens: z.number() }).optional().describe("Prices of a call with more tokens of input"),
    }).nullable().describe("US dollars per million tokens"),
    reasoning: z.boolean(),
    images: z.boolean(),
    /** Whether the bundled data or the configuration describes it; otherwise defaults are assumed. */
    known: z.boolean(),
    /** Whether this is the default model. */
    root: z.boolean(),
  })),
});

export type ModelsReport = Frozen<z.infer<typeof ModelsReportSchema>>;
export type ModelReport = ModelsReport["models"][number];
