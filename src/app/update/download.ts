import { isSecureUrl } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";

const TIMEOUT_MS = 600_000;
const MAX_REDIRECTS = 5;

interface DownloadOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** The caller checks `url`; this function checks only the addresses of redirects. */
export async function download(
  url: string,
  { maxBytes, signal, timeoutMs = TIMEOUT_MS }: DownloadOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const late = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, late]);
  const tooLarge = () => new Error(`It is larger than ${maxBytes} bytes, the limit`);
  try {
    return await readBounded(await fetched(url, either), { maxBytes, tooLarge, signal: either });
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    throw new Error(`The download took longer than ${timeoutMs / 1000} s, the limit`);
  }
}

async function fetched(url: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const { ok, status, headers, body } = await fetch(at, { signal, redirect: "manual" });
    if (ok && body) return body;
    await body?.cancel();
    const next = headers.get("location");
    if (status < 300 || status > 399 || next === null) throw new Error(`The server responded with status ${status}`);
    at = new URL(next, at).href;
    if (!isSecureUrl(at)) {
      throw new Error("The server redirects to an address that is neither https nor on this machine");
    }
  }
  throw new Error(`The server redirects more than ${MAX_REDIRECTS} times, the limit`);
}
