import { readBounded } from "../../../domain/kit/bytes.ts";
import { Problem } from "../response/problem.ts";
import type { HttpLimits } from "../routing/http_parts.ts";
import { bodyTooLarge } from "./guard.ts";

const CLOSE = { connection: "close" } as const;

/** Reads the text of a JSON body. Throws `Problem` if the body has another type, is compressed, too large, too slow or
 * not UTF-8. */
export async function readRequestBody(
  request: Request,
  limits: Pick<HttpLimits, "bodyBytes" | "bodyMs">,
): Promise<string> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new Problem(`Cannot read a body with content encoding ${encoding.slice(0, 50)}`, {
      kind: "unsupported-media-type",
    });
  }
  const type = request.headers.get("content-type") ?? "";
  const isEmpty = request.body === null || request.headers.get("content-length") === "0";
  if (!isEmpty && !/^application\/json\s*(;|$)/i.test(type)) {
    const shown = type.slice(0, 50) || "none";
    throw new Problem(`Cannot read content type: ${shown}; send application/json`, { kind: "unsupported-media-type" });
  }
  const bytes = request.body ? await readAll(request.body, limits) : new Uint8Array();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("Cannot read the body: it is not UTF-8", { kind: "bad-request" });
  }
}

async function readAll(
  body: ReadableStream<Uint8Array>,
  { bodyBytes, bodyMs }: Pick<HttpLimits, "bodyBytes" | "bodyMs">,
): Promise<Uint8Array> {
  const late = new AbortController();
  const tooLate = new Problem("Cannot read the body: it took too long to arrive", { kind: "timeout", headers: CLOSE });
  const timer = setTimeout(() => late.abort(tooLate), bodyMs);
  try {
    const tooLarge = () => bodyTooLarge(bodyBytes);
    return await readBounded(body, { maxBytes: bodyBytes, tooLarge, signal: late.signal });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("Cannot read the body: the connection ended early", { kind: "bad-request" });
  } finally {
    clearTimeout(timer);
  }
}
