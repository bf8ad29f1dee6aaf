import { readFileSync } from "node:fs";
import { fileCode, UsageError } from "../../domain/errors.ts";
import type { Address } from "./address.ts";

const CONNECT_MS = 10_000;
/** A connection over which nothing is sent, such as that of a listener, is noticed as lost by the system. */
const KEEP_ALIVE_MS = 10_000;

/** How every connection to a server is made. Poolers refuse settings of a session that they do not know. */
export function clientConfig(
  { host, port, user, database, password, tls }: Address,
): Readonly<Record<string, unknown>> {
  return {
    ...{ host, port, user, database },
    password: password ?? "",
    ssl: tls && {
      rejectUnauthorized: tls.verified,
      ...(tls.authority === null ? {} : { ca: authorityIn(tls.authority) }),
    },
    connectionTimeoutMillis: CONNECT_MS,
    application_name: `vis ${Deno.pid}`,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS },
  };
}

function authorityIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot use the database URL: its sslrootcert ${path} cannot be read (${fileCode(error)})`, {
      cause: error,
    });
  }
}
