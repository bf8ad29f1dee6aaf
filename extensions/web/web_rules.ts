/** Hosts that the user allows: `example.org`, `*.example.org`, `example.org:8443`, `*`. */
export interface WebRules {
  readonly hosts: readonly string[];
  /** `host:port` of this machine or its network, each named exactly. */
  readonly local: readonly string[];
}

/** `public`: every address of the host must be on the internet. `local`: the user named host and port. */
export type Reach = "public" | "local";

/** Null if no rule matches the host and port of the URL. */
export function reachOf(url: URL, { hosts, local }: WebRules): Reach | null {
  const host = bare(url.hostname);
  const port = portOf(url);
  if (local.some((rule) => matches(rule, { host, port, ports: [] }))) return "local";
  return hosts.some((rule) => matches(rule, { host, port, ports: [80, 443] })) ? "public" : null;
}

/** The URL's port, or the default of its protocol. */
export function portOf(url: URL): number {
  return url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
}

function matches(
  rule: string,
  { host, port, ports }: { readonly host: string; readonly port: number; readonly ports: readonly number[] },
): boolean {
  const [, pattern = "", own] = /^(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (own === undefined ? !ports.includes(port) : Number(own) !== port) return false;
  if (pattern === "*") return true;
  const below = pattern.startsWith("*.");
  const name = normal(below ? pattern.slice(2) : pattern);
  return name !== null && (below ? host.endsWith(`.${name}`) : host === name);
}

/** In the spelling of the URL parser: lower case, punycode, decimal numbers in addresses. */
function normal(name: string): string | null {
  const url = `http://${name}`;
  return URL.canParse(url) ? bare(new URL(url).hostname) : null;
}

const bare = (host: string): string => host.replace(/\.$/, "");
