/** One server in the user's configuration, with variables filled in. */
import { ServerError } from "./server_error.ts";
export type ServerConfig = StdioConfig | HttpConfig;

interface Common {
  readonly disabled: boolean;
  /** Whether its tools that are marked as destructive run without a question. */
  readonly destructive?: boolean;
  /** Limit of one call. */
  readonly timeoutMs: number;
  /** Limit of the start and the first exchange. */
  readonly startMs: number;
}

export interface StdioConfig extends Common {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly network: boolean;
  /** Absolute paths that it may read in addition to the workspace. */
  readonly read: readonly string[];
  /** Paths that it may change, relative to the workspace or absolute. */
  readonly write: readonly string[];
}

export interface HttpConfig extends Common {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Placeholder for the path of the workspace, in arguments and variables of a program. */
export const WORKSPACE = "${workspace}";

/** Name to server, without disabled ones. */
export function enabledServers(config: unknown): ReadonlyMap<string, ServerConfig> {
  const { servers = {} } = (config ?? {}) as { readonly servers?: Readonly<Record<string, ServerConfig>> };
  return new Map(Object.entries(servers).filter(([, { disabled }]) => !disabled));
}

/** Values that must not be shown: those of headers and variables. */
export function secretsOf(config: ServerConfig): readonly string[] {
  const values = Object.values("url" in config ? config.headers : config.env);
  const words = values.flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...new Set(words.filter((value) => value.length >= 6))].sort((a, b) => b.length - a.length);
}

/** The text without the secrets. */
export function redacted(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}

/** Throws Error for a variable that is missing in the environment. */
export function checkVariables(name: string, config: ServerConfig): void {
  for (const [key, value] of Object.entries("url" in config ? config.headers : config.env)) {
    const [missing, auth, secret] = /\$\{(auth:)?([^{}]*)\}/.exec(value.replaceAll(WORKSPACE, "")) ?? [];
    if (missing === undefined) continue;
    const why = auth ? `save it with vis auth login ${secret}` : "which is not set where Vis was started";
    throw new ServerError(name, `${key} is ${missing}, ${why}`);
  }
}
