/** Providers, keys and models as channels show them. None of these contain a key. */

export interface KeyReport {
  readonly provider: string;
  readonly title: string;
  /** "device-login" for a login on a web page, "optional" for servers that need no key. */
  readonly need: "required" | "optional" | "device-login";
  /** A variable or "auth.json"; "" if there is no key. */
  readonly from: string;
  /** The key's last characters after dots; "" if there is no key. */
  readonly shown: string;
  /** How to fix a missing key; "" if nothing needs to be done. */
  readonly fix: string;
}

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

export interface ProviderReport {
  readonly name: string;
  readonly title: string;
  readonly protocol: string;
  readonly baseUrl: string;
  /** The default model; null if a model must be named. */
  readonly model: string | null;
  /** Whether this is the default provider for queries now. */
  readonly root: boolean;
  readonly key: KeyReport;
  /** Null if it was not contacted. */
  readonly reach: { readonly ok: boolean; readonly found: string } | null;
}

export interface ProvidersReport {
  readonly providers: readonly ProviderReport[];
  /** Why no query could be served; "" if one could. */
  readonly problem: string;
  readonly notes: readonly string[];
}

export interface ModelReport {
  readonly name: string;
  readonly contextTokens: number | null;
  /** US dollars per million tokens; null if unknown. */
  readonly price: { readonly input: number; readonly output: number; readonly cached: number } | null;
  readonly reasoning: boolean;
  readonly images: boolean;
  /** Whether the bundled data or the configuration describes it; otherwise defaults are assumed. */
  readonly known: boolean;
  /** Whether this is the default model. */
  readonly root: boolean;
}

export interface ModelsReport {
  readonly provider: string;
  /** Where the list of models comes from. */
  readonly source: "service" | "data" | "config";
  /** Why the list is not from the service, or where the data is from. */
  readonly detail: string;
  readonly models: readonly ModelReport[];
}
