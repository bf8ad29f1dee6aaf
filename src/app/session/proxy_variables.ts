import type { EnvironmentVariables } from "../settings/settings.ts";

/** What the variables for proxies are to be set to, so that the runtime's `fetch` reads them as other programs do; {}
 * without a proxy, or if nothing has to change. Call it before the first request.
 *
 * The runtime compares hosts with NO_PROXY in lower case only, knows neither ports nor `*.` nor brackets there, and
 * takes `*` for names alone, not for addresses. So what it lacks is added; nothing is taken away. It also takes
 * `http_proxy` for https addresses, which HTTP_PROXY prevents. */
export function proxyVariables(env: EnvironmentVariables): Readonly<Record<string, string>> {
  const isSet = (name: string): boolean => (env[name] ?? env[name.toLowerCase()] ?? "") !== "";
  if (!["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].some(isSet)) return {};
  const ofHttp = env["HTTP_PROXY"] === undefined && env["http_proxy"] ? { HTTP_PROXY: env["http_proxy"] } : {};
  const given = env["NO_PROXY"] || env["no_proxy"] || "";
  const entries = given.split(/[\s,]+/).filter((entry) => entry !== "");
  const all = [...new Set(entries.flatMap((entry) => [entry, ...alsoMeant(entry.toLowerCase())]))].join(",");
  return { ...ofHttp, ...(all === "" || all === env["NO_PROXY"] ? {} : { NO_PROXY: all }) };
}

function alsoMeant(entry: string): readonly string[] {
  if (entry === "*") return ["0.0.0.0/0", "::/0"];
  const [, bracketed, host = entry] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(entry) ?? [];
  const plain = bracketed ?? host;
  return plain.startsWith("*.") ? [plain.slice(1)] : [plain];
}
