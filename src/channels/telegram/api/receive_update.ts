import { createHash, timingSafeEqual } from "node:crypto";
import { Cancelled } from "../../../domain/errors.ts";
import { readBounded } from "../../../domain/kit/bytes.ts";
import { readForeignJson } from "../../../domain/kit/json.ts";
import { isUpdate } from "./is_update.ts";
import type { Update } from "./wire.ts";

const HEADER = "x-telegram-bot-api-secret-token";
const MAX_BYTES = 1 << 20;

/** Answers one webhook request: 200 only once the update is stored. */
export async function receiveUpdate(
  request: Request,
  { secret, accept }: { readonly secret: string; readonly accept: (updates: readonly Update[]) => Promise<void> },
): Promise<Response> {
  if (!isSame(request.headers.get(HEADER) ?? "", secret)) {
    await request.body?.cancel();
    return new Response("", { status: 401 });
  }
  let update: Update | null;
  try {
    update = await updateOf(request);
  } catch {
    update = null;
  }
  if (update === null) return new Response("", { status: 400 });
  try {
    await accept([update]);
    return new Response("", { status: 200 });
  } catch (error) {
    if (error instanceof Cancelled) return new Response("", { status: 503 });
    throw error;
  }
}

/** Takes the same time wherever they differ. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function updateOf(request: Request): Promise<Update | null> {
  const tooLarge = () => new RangeError("Cannot read an update: it is too large");
  const bytes = await readBounded(request.body ?? new Blob().stream(), { maxBytes: MAX_BYTES, tooLarge });
  const value: unknown = readForeignJson(new TextDecoder().decode(bytes));
  return isUpdate(value) ? value : null;
}
