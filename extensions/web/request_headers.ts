const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** What the request itself says, what would open another protocol, and cookies: there are none. */
const OWN =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|keep-alive|cookie2?|proxy-.*|sec-.*|http2-settings)$/;
/** What another host may get of them too. */
const PLAIN = /^(?:accept|accept-language|user-agent)$/;
const MOST = 50, MAX_CHARS = 8_000;
const DEFAULTS = { "user-agent": "vis", accept: "*/*" };

/** Checked headers of a request, names in lower case. Throws Error naming the one that may not be sent. */
export function requestHeaders(told: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> {
  const entries = Object.entries(told);
  if (entries.length > MOST) throw new Error(`There are more than ${MOST} headers`);
  const headers = new Map<string, string>(Object.entries(DEFAULTS));
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 60))} is no name of a header`);
    if (OWN.test(key)) throw new Error(`The header ${key} may not be set`);
    // A line end would begin another header, and what is not a byte cannot be sent.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new Error(`The header ${key} has a character that may not be sent`);
    }
    if (value.length > MAX_CHARS) throw new Error(`The header ${key} is longer than ${MAX_CHARS} characters`);
    headers.set(key, value.trim());
  }
  headers.set("accept-encoding", "gzip");
  return headers;
}

/** What goes on to another origin: keys and the like are for the one that they were meant for. */
export function headersForOthers(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => PLAIN.test(name) || name === "accept-encoding"));
}
