import type { Frozen } from "./kit/json.ts";
import { z } from "zod";

export const KeyReportSchema = z.object({
  provider: z.string(),
  title: z.string(),
  need: z.enum(["required", "optional", "device-login"]),
  from: z.string().describe('A variable, auth.json, or ""'),
  address: z.string().optional().describe(
    "Address that receives the key, if a variable changes it, or the reason why no address does",
  ),
  shown: z.string().describe(
    'A mask, with the last four characters of a key with at least 16 characters; "" without a key',
  ),
  fix: z.string(),
});

export type KeyReport = Frozen<z.infer<typeof KeyReportSchema>>;

export interface LoginChoice {
  readonly name: string;
  readonly title: string;
  readonly need: KeyReport["need"];
  readonly start?: string;
}

export interface KeyTrial {
  readonly state: "works" | "refused" | "unknown";
  readonly found: string;
  readonly model?: string;
}

export interface NewServer {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
}

export interface ServerTrial {
  readonly models: readonly string[];
  readonly problem: string;
  readonly refused: boolean;
}

export const ProvidersReportSchema = z.object({
  providers: z.array(z.object({
    name: z.string(),
    title: z.string(),
    protocol: z.string(),
    baseUrl: z.string(),
    model: z.string().nullable(),
    root: z.boolean().describe("Whether queries use this provider first"),
    key: KeyReportSchema,
    reach: z.object({ ok: z.boolean(), found: z.string() }).nullable().describe(
      "Null if Vis did not check the provider",
    ),
  })),
  problem: z.string().describe('Reason why no query can run; "" if queries can run'),
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
  source: z.enum(["service", "data", "config"]),
  detail: z.string(),
  prices: z.string().optional().describe("Day of the stored prices and context sizes, if they include this provider"),
  models: z.array(z.object({
    name: z.string(),
    contextTokens: z.number().nullable(),
    price: rates.extend({
      search: z.number().optional().describe("US dollars of one web search by the service"),
      above: rates.extend({ tokens: z.number() }).optional().describe(
        "Prices of a call with more than this number of tokens of input",
      ),
    }).nullable().describe("US dollars per million tokens"),
    reasoning: z.boolean(),
    images: z.boolean(),
    known: z.boolean(),
    root: z.boolean(),
  })),
});

export const RefreshReportSchema = z.object({
  from: z.string().describe("The address of the catalogue"),
  date: z.string(),
  providers: z.array(z.object({ name: z.string(), models: z.number() })),
  missing: z.array(z.string()).describe("Providers that the catalogue lacks; Vis keeps their earlier data"),
});

export type RefreshReport = Frozen<z.infer<typeof RefreshReportSchema>>;

export type ModelsReport = Frozen<z.infer<typeof ModelsReportSchema>>;
export type ModelReport = ModelsReport["models"][number];

const LEFT_OUT = ["untrusted", "misconfigured", "off", "skipped"] as const;
export type LeftOut = typeof LEFT_OUT[number];

export const ExtensionSchema = z.object({
  name: z.string(),
  place: z.enum(["shipped", "home", "project", "path"]),
  state: z.enum(["loaded", ...LEFT_OUT]),
  version: z.string(),
  alias: z.string(),
  doc: z.string(),
  path: z.string(),
  reason: z.string().describe('Reason why the extension is not loaded; "" for a loaded one'),
  commands: z.array(z.string()),
});

export type ExtensionFacts = Frozen<z.infer<typeof ExtensionSchema>>;

export interface ExtensionCommandFacts {
  readonly name: string;
  readonly doc: string;
  readonly flags: readonly CommandFlag[];
}

interface CommandFlag {
  readonly flag: string;
  readonly kind: string;
}

export const ExtensionTrustSchema = z.object({
  path: z.string(),
  hash: z.string(),
  trusted: z.boolean(),
  files: z.array(z.object({ path: z.string(), bytes: z.number().int().min(0) })),
  extensions: z.array(z.object({
    namespace: z.string(),
    version: z.string(),
    requires: z.array(z.string()),
    allow: z.array(z.string()),
  })),
});

export type TrustFacts = Frozen<z.infer<typeof ExtensionTrustSchema>>;

export const ExtensionCheckSchema = z.object({
  what: z.string(),
  ok: z.boolean(),
  found: z.string(),
  skipped: z.boolean().optional(),
});

export type ExtensionCheck = Frozen<z.infer<typeof ExtensionCheckSchema>>;

interface CommandUser {
  readonly print: (text: string) => void;
  readonly ask?: (question: string) => Promise<string>;
  readonly signal?: AbortSignal;
  readonly candidate?: { readonly key: string; readonly value: unknown };
}

export interface BackgroundProgram {
  readonly id: string;
  readonly title: string;
  readonly startedAt: number;
  readonly output: string;
  stop(): void;
}

export interface ExtensionAdmin {
  list(): Promise<readonly ExtensionFacts[]>;
  show(name: string): Promise<ExtensionFacts & { readonly text: string }>;
  check(path: string | null): Promise<readonly ExtensionCheck[]>;
  test(path: string): Promise<readonly ExtensionCheck[]>;
  changes(path: string): AsyncIterable<void>;
  create(name: string): Promise<string>;
  /** `from` is a folder, an archive or a package, such as npm:NAME@VERSION. */
  add(from: string, options: { readonly replace: boolean }): Promise<string>;
  /** The last part of a dotted name is enough if it fits one extension. */
  remove(name: string): Promise<string>;
  unknown(names: readonly string[]): Promise<readonly string[]>;
  trustable(path: string | null): Promise<readonly TrustFacts[]>;
  /** Rejects if the content of the folder has changed since `trustable`. */
  trust(facts: TrustFacts): Promise<void>;
  distrust(path: string): Promise<boolean>;
  commands(): Promise<readonly ExtensionCommandFacts[]>;
  requests(
    named?: readonly string[],
  ): Promise<readonly { readonly name: string; readonly doc: string; readonly text: string }[]>;
  run(args: readonly string[], user: CommandUser): Promise<number | null>;
}

export const SettingFactsSchema = z.object({
  key: z.string(),
  value: z.unknown(),
  layer: z.enum(["default", "user", "project", "environment", "run", "flags"]),
  where: z.string().describe('A path, a variable or a flag; "" for a default'),
  doc: z.string(),
  type: z.string(),
  project: z.boolean().describe("Whether the file of a workspace may set this setting without trust"),
  list: z.enum(["replaced", "extended"]).nullable().describe(
    "For a list: whether a file, variable or flag that sets the list replaces the lists of lower layers, or adds entries; null for other settings, and for secrets",
  ),
  layers: z.array(z.object({
    layer: z.string(),
    where: z.string(),
    value: z.unknown(),
    counts: z.boolean().describe(
      "Whether the layer contributes to the value: a layer overrides another, or adds entries",
    ),
  })),
});

export type SettingFacts = Frozen<z.infer<typeof SettingFactsSchema>>;

export const SettingChangeSchema = z.object({
  key: z.string(),
  path: z.string(),
  value: z.unknown(),
  changed: z.boolean(),
  overruled: z.string().describe('Variable, flag or file that overrides the setting; "" if none does'),
  extended: z.string().describe('Variable, flag or file that adds entries to the setting; "" if none does'),
});

export type SettingChange = Frozen<z.infer<typeof SettingChangeSchema>>;

export const ConfigTrustSchema = z.object({
  path: z.string(),
  sha256: z.string(),
  trusted: z.boolean(),
  keys: z.array(z.object({ key: z.string(), value: z.unknown() })),
});

export type ConfigTrustFacts = Frozen<z.infer<typeof ConfigTrustSchema>>;

export const VersionFactsSchema = z.object({
  vis: z.string(),
  deno: z.string(),
  v8: z.string(),
  compiled: z.boolean(),
  target: z.string(),
});

export type VersionFacts = Frozen<z.infer<typeof VersionFactsSchema>>;

export interface UpdateRequest {
  readonly from?: string | undefined;
  readonly key?: string | undefined;
  readonly check: boolean;
  readonly force: boolean;
  readonly onFound: (release: FoundRelease) => void;
  readonly signal: AbortSignal;
}

export interface FoundRelease {
  readonly version: string;
  readonly age: "newer" | "same" | "older";
  readonly changes: string;
}

export interface InstalledRelease {
  readonly path: string;
  readonly kept: string;
}
