import { abortable, messageOf, reasonOf } from "@vis/extension";
import { lookup } from "node:dns";

const MOST_ADDRESSES = 32, TRIED = 3;

/** Vis connects to an address that it has checked, so a later DNS response has no effect. */
export async function openConnection(
  url: URL,
  { reach, outside, signal }: { readonly reach: Reach; readonly outside: Outside; readonly signal: AbortSignal },
): Promise<Deno.Conn> {
  const addresses = await checkedAddresses(url, { reach, outside, signal });
  let failure: unknown = null;
  for (const address of addresses.slice(0, TRIED)) {
    let connection: Deno.Conn | null = null;
    try {
      connection = await opened(outside.connect(address, portOf(url)), signal);
      return url.protocol === "https:" ? await secured(connection, { url, outside, signal }) : connection;
    } catch (error) {
      if (connection) closeQuietly(connection);
      signal.throwIfAborted();
      failure = error;
      if (!isRefusal(error)) break;
    }
  }
  throw new Error(`Vis could not connect to ${url.host} (${reasonOf(failure)})`);
}

async function checkedAddresses(
  url: URL,
  { reach, outside, signal }: { readonly reach: Reach; readonly outside: Outside; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const host = hostOf(url);
  const literal = isAddress(host);
  const addresses = literal ? [host] : await found(url.hostname, { outside, signal });
  const allowed: readonly AddressClass[] = reach === "public"
    ? ["public"]
    : literal
    ? ["public", "private", "never"]
    : ["public", "private"];
  const wrong = addresses.find((address) => !allowed.includes(addressClass(address)));
  if (wrong === undefined) return addresses;
  if (reach === "local" || !literal && addressClass(wrong) === "never") {
    throw new Error(`${url.hostname} has the reserved address ${wrong}`);
  }
  const what = literal ? `${host} is` : `${url.hostname} has the address ${wrong}, which is`;
  throw new Error(`${what} not on the internet; the user can add the host with its port to web.local`);
}

async function found(
  host: string,
  { outside, signal }: { readonly outside: Outside; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  let addresses: readonly string[] = [], why = "";
  try {
    addresses = await abortable(outside.resolve(host), signal);
  } catch (error) {
    signal.throwIfAborted();
    why = ` (${messageOf(error)})`;
  }
  if (addresses.length === 0) throw new Error(`Vis found no address of the name ${host}${why}`);
  if (addresses.length <= MOST_ADDRESSES) return addresses;
  throw new Error(`The name ${host} has ${addresses.length} addresses, and the limit is ${MOST_ADDRESSES}`);
}

async function opened(connecting: Promise<Deno.Conn>, signal: AbortSignal): Promise<Deno.Conn> {
  try {
    return await abortable(connecting, signal);
  } catch (error) {
    if (signal.aborted) connecting.then(closeQuietly, () => {});
    throw error;
  }
}

async function secured(
  connection: Deno.Conn,
  { url, outside, signal }: { readonly url: URL; readonly outside: Outside; readonly signal: AbortSignal },
): Promise<Deno.Conn> {
  if (!isTcp(connection)) throw new TypeError("Cannot use TLS: the connection is not TCP");
  const close = (): void => closeQuietly(connection);
  signal.addEventListener("abort", close, { once: true });
  try {
    const secure = await Deno.startTls(connection, {
      hostname: hostOf(url).replace(/\.$/, ""),
      caCerts: [...outside.caCerts],
      alpnProtocols: ["http/1.1"],
    });
    try {
      await abortable(secure.handshake(), signal);
    } catch (error) {
      closeQuietly(secure);
      throw error;
    }
    return secure;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* The connection is already closed. */ }
}

const isTcp = (connection: Deno.Conn): connection is Deno.TcpConn => "setNoDelay" in connection;

function isRefusal(error: unknown): boolean {
  // deno-lint-ignore vis/no-message-parsing -- the runtime reports a refused certificate only in its message
  return error instanceof Error && !(error instanceof Deno.errors.InvalidData) && !/certificate/i.test(error.message);
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(":");

export interface WebRules {
  readonly hosts: readonly string[];
  readonly local: readonly string[];
}

/** With `public`, every address of the host must be on the internet. With `local`, the settings name host and port. */
export type Reach = "public" | "local";

export function reachOf(url: URL, { hosts, local }: WebRules): Reach | null {
  const host = bare(url.hostname);
  const port = portOf(url);
  if (local.some((rule) => matches(rule, { host, port, ports: [] }))) return "local";
  return hosts.some((rule) => matches(rule, { host, port, ports: [80, 443] })) ? "public" : null;
}

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

function normal(name: string): string | null {
  const url = `http://${name}`;
  return URL.canParse(url) ? bare(new URL(url).hostname) : null;
}

const bare = (host: string): string => host.replace(/\.$/, "");

/** A `private` address needs a setting with host and port. A `never` address, such as link-local, needs a setting with
 * the address itself and the port. */
type AddressClass = "public" | "private" | "never";

const NEVER_4: readonly string[] = ["0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"];
const PRIVATE_4: readonly string[] = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
];

export function addressClass(address: string): AddressClass {
  const four = parse4(address);
  if (four !== null) return class4(four);
  const six = parse6(address);
  return six === null ? "never" : class6(six);
}

function class4(address: number): AddressClass {
  if (NEVER_4.some((block) => holds4(block, address))) return "never";
  return PRIVATE_4.some((block) => holds4(block, address)) ? "private" : "public";
}

function holds4(block: string, address: number): boolean {
  const [base = "", bits = "32"] = block.split("/");
  const size = 2 ** (32 - Number(bits));
  return Math.floor(address / size) === Math.floor((parse4(base) ?? -1) / size);
}

function class6(groups: readonly number[]): AddressClass {
  const [first = 0, second = 0, third = 0] = groups;
  const zeros = (to: number): boolean => groups.slice(0, to).every((group) => group === 0);
  const embedded = (groups[6] ?? 0) * 65536 + (groups[7] ?? 0);
  if (zeros(5) && groups[5] === 0xffff) return class4(embedded); // The range ::ffff:0:0/96 has IPv4-mapped addresses.
  if (first === 0x64 && second === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return class4(embedded);
  if (zeros(7) && groups[7] === 1) return "private";
  if ((first & 0xfe00) === 0xfc00) return "private"; // The range fc00::/7 has unique local addresses.
  if ((first & 0xe000) !== 0x2000) return "never";
  if (first === 0x2001 && second < 0x200) return "never"; // The range 2001::/23 is for Teredo and other protocols.
  if (first === 0x2001 && second === 0xdb8) return "never"; // The range 2001:db8::/32 is for documentation.
  if (first === 0x2002) return class4(second * 65536 + third) === "public" ? "private" : "never";
  return first === 0x3fff && second < 0x1000 ? "never" : "public";
}

/** The URL parser has already normalized other spellings. */
function parse4(text: string): number | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) {
    return null;
  }
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function parse6(text: string): readonly number[] | null {
  const last = text.slice(text.lastIndexOf(":") + 1);
  const tail = last.includes(".") ? parse4(last) : null;
  if (last.includes(".") && tail === null) return null;
  const plain = tail === null
    ? text
    : `${text.slice(0, -last.length)}${Math.floor(tail / 65536).toString(16)}:${(tail % 65536).toString(16)}`;
  const halves = plain.split("::");
  if (halves.length > 2) return null;
  const [head = [], rest = []] = halves.map((half) => half === "" ? [] : half.split(":"));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...rest];
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group)) ? groups.map((group) => parseInt(group, 16)) : null;
}

export interface Outside {
  resolve(host: string): Promise<readonly string[]>;
  connect(address: string, port: number): Promise<Deno.TcpConn>;
  readonly caCerts: readonly string[];
}

export const OUTSIDE: Outside = {
  // In the runtime of the executable, `lookup` of node:dns/promises writes a warning about node:punycode to stderr.
  resolve: (host) =>
    new Promise((resolve, reject) =>
      lookup(host, { all: true }, (error, found) => {
        if (error) reject(error);
        else resolve(found.map(({ address }) => address));
      })
    ),
  connect: (hostname, port) => Deno.connect({ hostname, port }),
  caCerts: [],
};
