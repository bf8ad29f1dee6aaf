const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Headers that the request itself sets, those that would switch the protocol, and cookies, which are not supported. */
const OWN =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|keep-alive|cookie2?|proxy-.*|sec-.*|http2-settings)$/;
/** Headers that are also sent to another host. */
const PLAIN = /^(?:accept|accept-language|user-agent)$/;
const MOST = 50, MAX_CHARS = 8_000;
const DEFAULTS = { "user-agent": "vis", accept: "*/*" };

/** Validated headers of a request, names in lower case. Throws Error that names a header that must not be sent. */
export function requestHeaders(wanted: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> {
  const entries = Object.entries(wanted);
  if (entries.length > MOST) throw new Error(`There are more than ${MOST} headers`);
  const headers = new Map<string, string>(Object.entries(DEFAULTS));
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 60))} is not the name of a header`);
    if (OWN.test(key)) throw new Error(`The header ${key} may not be set`);
    // A line break would start another header, and only bytes can be sent.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new Error(`The header ${key} has a character that may not be sent`);
    }
    if (value.length > MAX_CHARS) throw new Error(`The header ${key} is longer than ${MAX_CHARS} characters`);
    headers.set(key, value.trim());
  }
  headers.set("accept-encoding", "gzip");
  return headers;
}

/** Headers to send to another origin: keys and the like are only for the original one. */
export function headersForOthers(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => PLAIN.test(name) || name === "accept-encoding"));
}
