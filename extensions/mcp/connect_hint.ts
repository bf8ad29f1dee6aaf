import { isSigned } from "./login/is_signed.ts";
import { loginAdvice } from "./login/login_advice.ts";
import type { HttpConfig, StdioConfig } from "./server_config.ts";

/** What a wall says, and what programs say that need the network. */
const STOPPED = /EACCES|EPERM|EROFS|permission denied|operation not permitted|read-only file system/i;
const OFFLINE = /EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|getaddrinfo|network is unreachable|resolve host/i;

const NOT_FOUND = /ENOENT|no such file|cannot find module|module not found|no module named/i;

/** Which setting a program probably lacks that did not start; "" if nothing tells. */
export function programHint(
  said: string,
  { network, write, cwd }: Pick<StdioConfig, "network" | "write" | "cwd">,
): string {
  if (!network && OFFLINE.test(said)) return "it has no network: set network to true, or install what it downloads";
  if (cwd === undefined && NOT_FOUND.test(said)) {
    return 'it started in an empty folder: set cwd to "." if it is a program of the workspace';
  }
  if (!STOPPED.test(said)) return "";
  const missing = write.length === 0 ? "write, for what it changes, or read" : "read, for what it needs besides";
  return `its wall may have stopped it: the settings that allow more are ${missing}`;
}

/** What an address that answers with this status probably is; "" if nothing tells. */
export function addressHint(name: string, status: number, { headers }: Pick<HttpConfig, "headers">): string {
  if (status === 401 || status === 403) {
    return isSigned(headers)
      ? "the server refuses the Authorization header: the token may be wrong or expired"
      : `the server wants a login or a token: ${loginAdvice(name)}`;
  }
  if (status !== 404 && status !== 405) return "";
  return "this is not an address of streamable HTTP; servers with the older SSE transport only are not supported, and many " +
    "have both, the newer one below /mcp";
}
