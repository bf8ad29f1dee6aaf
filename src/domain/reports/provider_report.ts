/** Providers, keys and models as channels show them. No key stands in any of these. */

export interface KeyReport {
  readonly provider: string;
  readonly title: string;
  /** "device-login" for a login on a page, "optional" for servers that want none. */
  readonly need: "required" | "optional" | "device-login";
  /** A variable, "auth.json", or "" where there is none. */
  readonly from: string;
  /** The key's last characters behind dots, "" where there is none. */
  readonly shown: string;
  /** What to do about a missing key, "" where nothing is to be done. */
  readonly mend: string;
}

/** What one can log in to. */
export interface LoginChoice {
  readonly name: string;
  readonly title: string;
  /** "optional" for a server of this machine, which wants no key. */
  readonly need: KeyReport["need"];
}

/** What a service says to a key that is not kept yet: "unknown" where it could not be asked. */
export interface KeyTrial {
  readonly state: "works" | "refused" | "unknown";
  readonly found: string;
}

export interface ProviderReport {
  readonly name: string;
  readonly title: string;
  readonly protocol: string;
  readonly baseUrl: string;
  /** Model that serves where none is asked for, null where it must be named. */
  readonly model: string | null;
  /** The provider that serves a query now, where none is asked for. */
  readonly root: boolean;
  readonly key: KeyReport;
  /** Null where it was not asked. */
  readonly reach: { readonly ok: boolean; readonly found: string } | null;
}

export interface ProvidersReport {
  readonly providers: readonly ProviderReport[];
  /** Why no query could be served, "" where one could. */
  readonly problem: string;
  readonly notes: readonly string[];
}

export interface ModelReport {
  readonly name: string;
  readonly contextTokens: number | null;
  /** US dollars per million tokens, null where unknown. */
  readonly price: { readonly input: number; readonly output: number; readonly cached: number } | null;
  readonly reasoning: boolean;
  readonly images: boolean;
  /** Described by the data or the configuration; otherwise what is assumed of any model. */
  readonly known: boolean;
  /** Serves where none is asked for. */
  readonly root: boolean;
}

export interface ModelsReport {
  readonly provider: string;
  /** Who says which models there are. */
  readonly source: "service" | "data" | "config";
  /** Why the service was not the source, or where the data is from. */
  readonly detail: string;
  readonly models: readonly ModelReport[];
}
