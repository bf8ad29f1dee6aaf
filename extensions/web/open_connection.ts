import { abortable, reasonOf } from "@vis/extension";
import { type AddressClass, addressClass } from "./address_class.ts";
import type { Outside } from "./outside.ts";
import { portOf, type Reach } from "./web_rules.ts";

const MOST_ADDRESSES = 32, TRIED = 3;

/** Opens a connection to a URL's host for one request. The name is resolved here, every address is checked, and the
 * connection goes to one of them, so a DNS answer that changes a moment later has no effect. Rejects with Error, and
 * with the signal's reason. */
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
  throw new Error(`No connection to ${url.host}: ${reasonOf(failure)}`);
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
  const what = literal ? `${host} is` : `${url.hostname} has the address ${wrong},`;
  throw new Error(
    reach === "local"
      ? `${what} not an address that a name may lead to`
      : `${what} not an address of the internet; only what web.local names with its port may be reached there`,
  );
}

async function found(
  host: string,
  { outside, signal }: { readonly outside: Outside; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  let addresses: readonly string[] = [];
  try {
    addresses = await abortable(outside.resolve(host), signal);
  } catch {
    signal.throwIfAborted();
  }
  if (addresses.length === 0) throw new Error(`No address of ${host} was found`);
  if (addresses.length > MOST_ADDRESSES) throw new Error(`${host} has more than ${MOST_ADDRESSES} addresses`);
  return addresses;
}

/** Closes a connection that is opened too late. */
async function opened(connecting: Promise<Deno.Conn>, signal: AbortSignal): Promise<Deno.Conn> {
  try {
    return await abortable(connecting, signal);
  } catch (error) {
    if (signal.aborted) connecting.then(closeQuietly, () => {});
    throw error;
  }
}

/** TLS for the URL's host name, whatever the address. */
async function secured(
  connection: Deno.Conn,
  { url, outside, signal }: { readonly url: URL; readonly outside: Outside; readonly signal: AbortSignal },
): Promise<Deno.Conn> {
  if (!isTcp(connection)) throw new TypeError("TLS needs a TCP connection");
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

/** A connection that TLS took over or that is already closed cannot be closed. */
function closeQuietly(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* nothing is left of it */ }
}

const isTcp = (connection: Deno.Conn): connection is Deno.TcpConn => "setNoDelay" in connection;

function isRefusal(error: unknown): boolean {
  // deno-lint-ignore vis/no-message-parsing -- the runtime reports a refused certificate only in its message
  return error instanceof Error && !(error instanceof Deno.errors.InvalidData) && !/certificate/i.test(error.message);
}

/** Without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(":");
