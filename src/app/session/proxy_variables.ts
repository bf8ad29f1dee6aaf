import type { EnvironmentVariables } from "../settings/settings.ts";

/** What the variables for proxies are to be set to, so that the runtime's `fetch` reads them as other programs do; {}
 * without a proxy, or if nothing has to change. Call it before the first request.
 *
 * The runtime compares hosts with NO_PROXY in lower case only, knows neither ports nor `*.` nor brackets there, and
 * takes `*` for names alone, not for addresses. So what it lacks is added; nothing is taken away. It also takes
 * `http_proxy` for https addresses, which HTTP_PROXY prevents, and ignores a proxy whose login has no password. */
export function proxyVariables(env: EnvironmentVariables): Readonly<Record<string, string>> {
  const isSet = (name: string): boolean => (env[name] ?? env[name.toLowerCase()] ?? "") !== "";
  if (!PROXIES.some(isSet)) return {};
  const names = PROXIES.flatMap((name) => [name, name.toLowerCase()]);
  const logins = names.filter((name) => withPassword(env[name] ?? "") !== (env[name] ?? ""))
    .map((name) => [name, withPassword(env[name] ?? "")]);
  const small = withPassword(env["http_proxy"] ?? "");
  const ofHttp = env["HTTP_PROXY"] === undefined && small !== "" ? { HTTP_PROXY: small } : {};
  const given = env["NO_PROXY"] || env["no_proxy"] || "";
  const entries = given.split(/[\s,]+/).filter((entry) => entry !== "");
  const all = [...new Set(entries.flatMap((entry) => [entry, ...alsoMeant(entry.toLowerCase())]))].join(",");
  return {
    ...ofHttp,
    ...Object.fromEntries(logins),
    ...(all === "" || all === env["NO_PROXY"] ? {} : { NO_PROXY: all }),
  };
}

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

function withPassword(proxy: string): string {
  return proxy.replace(/^(\w+:\/\/[^:@/]+)@/, "$1:@");
}

function alsoMeant(entry: string): readonly string[] {
  const [, bracketed, host = entry] = /^(?:\[([^\]:]*:[^\]]*:[^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(entry) ?? [];
  const plain = bracketed ?? host;
  if (plain === "*") return ["*", "0.0.0.0/0", "::/0"];
  return plain.startsWith("*.") ? [plain.slice(1)] : [plain];
}
