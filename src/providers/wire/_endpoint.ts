import { ConfigError } from "../../domain/errors.ts";
import { percentDecoded } from "../../domain/kit/addresses.ts";
import type { Advice } from "./wire.ts";

const SHORTEST_HEADER_SECRET = 8;
const PASTED = /\/(chat\/completions|responses|messages)$/;

interface EndpointOptions {
  readonly baseUrl: string;
  readonly authorization: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly advice: Advice;
}

export class Endpoint {
  /** The address has no credentials, query, trailing slash or pasted path of an API. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly hasKey: boolean;
  readonly #query: Readonly<Record<string, string>>;
  readonly #hideSecrets: (text: string) => string;

  constructor(options: EndpointOptions) {
    const url = parse(options.baseUrl, options.advice);
    const login = url.username === "" ? "" : basicCredentials(url);
    this.base = url.origin + url.pathname.replace(/\/+$/, "").replace(PASTED, "").replace(/\/+$/, "");
    this.#query = Object.fromEntries(url.searchParams);
    this.headers = {
      ...(login ? { authorization: `Basic ${login}` } : {}),
      ...lowerCased(options.authorization),
      ...lowerCased(options.headers),
    };
    checkHeaders(this.headers, { keyed: Object.keys(lowerCased(options.authorization)), advice: options.advice });
    this.hasKey = Object.keys(options.authorization).length > 0 || this.headers.authorization !== undefined;
    const inHeaders = Object.values(this.headers).filter((text) => text.length >= SHORTEST_HEADER_SECRET);
    const keys = Object.values(options.authorization);
    this.#hideSecrets = secretsHider([
      ...[percentDecoded(url.password), url.password, login, ...Object.values(this.#query)],
      ...[...inHeaders, ...keys].flatMap((text) => [text, text.replace(/^\w+ +/, "")]),
    ]);
  }

  url(path: string, query: Readonly<Record<string, string>> = {}): string {
    const all = new URLSearchParams({ ...this.#query, ...query }).toString();
    return `${this.base}${path}${all === "" ? "" : `?${all}`}`;
  }

  get hasVersion(): boolean {
    return /\/v\d+\w*(\/|$)/.test(this.base);
  }

  /** Returns one line of at most 500 characters and an ellipsis, and hides secrets of at least `SHORTEST_SECRET`
   * characters. */
  clean(text: string): string {
    // deno-lint-ignore no-control-regex
    const shown = this.#hideSecrets(text.slice(0, 20_000)).replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
    const kept = [...shown.slice(0, 1100)].slice(0, 500).join("");
    return kept.length < shown.length ? `${kept}…` : kept;
  }
}

function parse(baseUrl: string, advice: Advice): URL {
  const text = baseUrl.trim();
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "") return url;
  const shown = text.replace(/^.*@/, "").replace(/[?#].*$/s, "").slice(0, 200);
  throw new ConfigError(
    `Cannot use the base URL "${shown}": it is not an address like http://127.0.0.1:8080/v1; correct ` +
      `${advice.baseUrl}`,
  );
}

function basicCredentials({ username, password }: URL): string {
  return new TextEncoder().encode(`${percentDecoded(username)}:${percentDecoded(password)}`).toBase64();
}

function checkHeaders(
  headers: Readonly<Record<string, string>>,
  facts: { readonly keyed: readonly string[]; readonly advice: Advice },
): void {
  for (const [name, value] of Object.entries(headers)) {
    const isName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name);
    if (isName && /^[\t\x20-\x7e]*$/.test(value)) continue;
    const isKey = name === "authorization" || facts.keyed.includes(name);
    const what = isKey ? "the key" : `the header "${name.slice(0, 60)}"`;
    const why = isName ? "it has a control character or a character outside ASCII" : "HTTP does not allow its name";
    throw new ConfigError(
      `Cannot send ${what}: ${why}; check ${isKey ? facts.advice.key : "headers of the provider in config.jsonc"}`,
    );
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Replacing shorter secrets would garble ordinary words. */
const SHORTEST_SECRET = 6;

function secretsHider(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
    .map(patternOf);
  return (text) => patterns.reduce((shown, pattern) => shown.replace(pattern, "[hidden]"), text);
}

/** JSON may have escaped the secret several times. */
function patternOf(secret: string): RegExp {
  const parts = [...secret].map((char) => {
    if (char === "\\") return "\\\\+";
    return (/["'/]/.test(char) ? "\\\\*" : "") + char.replace(/[$()*+.?[\]^{|}]/, "\\$&");
  });
  return new RegExp(parts.join(""), "gi");
}
