import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Cancelled } from "../../domain/errors.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { aborted } from "../../domain/kit/concurrency.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import { type BotApi, TelegramError, untilReached, type Update, type Waiting } from "./bot_api.ts";

const UPDATE_KINDS = ["message", "edited_message", "callback_query"] as const;

const POLL_SECONDS = 50;
/** A batch of this many of the longest messages fits one row of the inbox. */
const BATCH = 50;

/** `mark` resolves with the highest accepted update, or null. Polling confirms updates only after `accept` resolves. */
export async function pollUpdates(
  { api, mark, accept, ...waiting }: Waiting & {
    readonly api: BotApi;
    readonly mark: () => Promise<number | null>;
    readonly accept: (updates: readonly Update[]) => Promise<void>;
  },
): Promise<void> {
  const { signal } = waiting;
  try {
    while (!signal.aborted) {
      const last = await mark();
      const offset = last === null ? null : last + 1;
      const updates = await untilReached(() => getUpdates(api, { offset, signal }), waiting);
      if (updates.length > 0) await accept(updates);
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
  }
}

async function getUpdates(
  api: BotApi,
  { offset, signal }: { readonly offset: number | null; readonly signal: AbortSignal },
): Promise<readonly Update[]> {
  const updates: unknown = await api.call((wire, own) =>
    wire.getUpdates({
      timeout: POLL_SECONDS,
      limit: BATCH,
      allowed_updates: [...UPDATE_KINDS],
      ...(offset === null ? {} : { offset }),
    }, own), { signal, timeoutMs: (POLL_SECONDS + 20) * 1000 });
  if (Array.isArray(updates) && updates.every(isUpdate)) return updates;
  throw new TelegramError("Cannot read updates: the response of Telegram is not a list of updates", {
    code: "network",
  });
}

export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** The webhook stays after the end of the bot, so that Telegram keeps updates. */
export async function setWebhook(
  { url, secret }: Webhook,
  { api, ...waiting }: Waiting & { readonly api: BotApi },
): Promise<void> {
  const { signal } = waiting;
  // Parallel connections could mix up the order of messages.
  const asked = { url, secret_token: secret, max_connections: 1, allowed_updates: UPDATE_KINDS };
  try {
    await untilReached(() => api.call((wire, own) => wire.setWebhook(asked, own), { signal }), waiting);
    await aborted(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const HEADER = "x-telegram-bot-api-secret-token";
const MAX_BYTES = 1 << 20;

/** Responds with 200 only after `accept` has stored the update. */
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

function isSame(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function updateOf(request: Request): Promise<Update | null> {
  const tooLarge = () => new RangeError(`Cannot read an update: it is larger than ${MAX_BYTES} bytes, the limit`);
  const bytes = await readBounded(request.body ?? new Blob().stream(), { maxBytes: MAX_BYTES, tooLarge });
  const value: unknown = readForeignJson(new TextDecoder().decode(bytes));
  return isUpdate(value) ? value : null;
}

/** A secret from the token needs no storage. */
export function webhookSecret(token: string): string {
  return createHmac("sha256", token).update("vis webhook").digest("hex");
}

/** Checks only `update_id`, so other fields may have any value. */
function isUpdate(value: unknown): value is Update {
  return typeof value === "object" && value !== null && "update_id" in value && Number.isSafeInteger(value.update_id);
}
