import { UsageError } from "../../domain/errors.ts";

/** Where a PostgreSQL server is, from its URL. */
export interface Address {
  /** A name, a network address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password: string | undefined;
  /** False for a connection without TLS. */
  readonly tls: false | { readonly verified: boolean; readonly authority: string | null };
  /** The URL without its password, for people. */
  readonly shown: string;
}

const MODES = ["disable", "require", "verify-full"];

/** Reads a `postgres://` URL. TLS is used and verified unless the server is on this machine or `sslmode` says
 * otherwise. Throws `UsageError`. */
export function readAddress(text: string, password?: string): Address {
  // A URL needs a host, which a socket has in its query.
  const url = URL.parse(text.replace(/^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?=\/|\?|$)/, "$1localhost"));
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new UsageError("Cannot use the database URL: it is not of the form postgres://user@host:5432/name");
  }
  const host = url.searchParams.get("host") ?? url.hostname.replace(/^\[|\]$/g, "");
  const isHere = host.startsWith("/") || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
  const mode = url.searchParams.get("sslmode") ?? (isHere ? "disable" : "verify-full");
  if (!MODES.includes(mode)) {
    throw new UsageError(`Cannot use the database URL: sslmode is ${mode}, and not one of ${MODES.join(", ")}`);
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === "") throw new UsageError("Cannot use the database URL: it names no database");
  const user = decodeURIComponent(url.username) || "vis";
  const port = Number(url.searchParams.get("port") ?? (url.port || 5432));
  const authority = url.searchParams.get("sslrootcert");
  return {
    ...{ host, port, user, database },
    password: password ?? (url.password === "" ? undefined : decodeURIComponent(url.password)),
    tls: mode === "disable" ? false : { verified: mode === "verify-full", authority },
    shown: `postgres://${user}@${host}${port === 5432 ? "" : `:${port}`}/${database}`,
  };
}
