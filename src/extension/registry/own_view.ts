import { tenantHome } from "../../domain/kit/ids.ts";
import type { Log } from "../../logging/log.ts";
import type { EnvironmentView, Extension } from "../spec.ts";
import { callView } from "./call_view.ts";

/** The keys of an environment that belong to one extension, by its namespace. */
export type OwnKeys = (namespace: string, call?: OwnCall) => Partial<EnvironmentView>;

export interface OwnCall {
  readonly signal: AbortSignal;
  /** Whether the function has a time limit of its own. */
  readonly untimed: boolean;
}

/** Maximum length of one log note, in characters. */
const MAX_NOTE = 2000;

export interface OwnViewParts {
  readonly namespace: string;
  readonly own: OwnKeys | undefined;
  readonly call?: OwnCall;
  readonly log: Log;
  readonly home: string | null | undefined;
  readonly config: unknown;
  readonly register: (extension: Extension) => void;
  readonly warn?: ((text: string) => void) | undefined;
  readonly load: ((ref: string) => Promise<Extension>) | undefined;
}

/** The environment as one extension sees it. */
export function ownView(env: EnvironmentView, parts: OwnViewParts): EnvironmentView {
  const { namespace, own, call, log, home, config, register, warn, load } = parts;
  return callView(env, {
    ...own?.(namespace, call),
    ...(home === undefined ? {} : { home: tenantHome(home, env.tenant) }),
    ...(config === undefined ? {} : { config }),
    ...(call ? { signal: call.signal } : {}),
    log: (text) => log.info("extension.note", { ext: namespace, text: String(text).slice(0, MAX_NOTE) }),
    register,
    ...(warn ? { warn } : {}),
    ...(load ? { load } : {}),
  });
}
