import type { FetchLike } from "@modelcontextprotocol/client";
import { isSecureUrl } from "@vis/extension";
import { LoginError } from "./login_error.ts";

const MAX_ANSWER = 1 << 20, LIMIT_MS = 30_000;

/** Requests of a login: only to addresses that `checkAddress` lets through, without redirects, and bounded. */
export function loginFetch(server: string): FetchLike {
  return async (input, init) => {
    checkAddress(String(input), server);
    const signal = AbortSignal.timeout(LIMIT_MS);
    const answer = await fetch(input, { ...init, redirect: "error", signal });
    let length = 0;
    const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (chunk, controller) => {
        length += chunk.length;
        if (length > MAX_ANSWER) controller.error(new LoginError(`An answer has over ${MAX_ANSWER} bytes`));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = answer;
    return new Response(answer.body?.pipeThrough(counter, { signal }) ?? null, { status, statusText, headers });
  };
}

/** Throws LoginError unless the address has https. A server on the loopback interface may name others there, and no
 * other server may: its answers would reach programs of this machine. */
export function checkAddress(address: string, server: string): void {
  const { protocol, origin } = new URL(address);
  const isLocal = isSecureUrl(address) && isSecureUrl(server) && new URL(server).protocol === "http:";
  if (protocol === "https:" || isLocal) return;
  throw new LoginError(`${origin} has no https, which logins need`);
}
