/** One server in the user's configuration, with variables filled in. */
import type { z } from "zod";
import { ServerError } from "./server_error.ts";
import type { Http, Stdio } from "./settings.ts";

export type ServerConfig = StdioConfig | HttpConfig;

export type StdioConfig = Readonly<z.infer<typeof Stdio>>;
export type HttpConfig = Readonly<z.infer<typeof Http>>;

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
    throw new ServerError(name, `${key} is ${missing}, ${why}`, "secret");
  }
}
