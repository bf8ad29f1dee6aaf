import { UsageError } from "../../domain/errors.ts";

/** The name of a server, from its host: letters, digits, dots and dashes. Throws `UsageError` for an address that is
 * none. */
export function serverName(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`Cannot use ${baseUrl}: write an address such as http://127.0.0.1:8080/v1`);
  }
  return url.host.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "");
}
