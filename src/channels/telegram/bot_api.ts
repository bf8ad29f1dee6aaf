import { Api, GrammyError, HttpError } from "grammy/web";
import { Cancelled, UsageError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { backoffMs, type Clock, REAL_CLOCK } from "../../domain/kit/concurrency.ts";
import type { Log } from "../../logging/log.ts";

const CALL_MS = 30_000;
const DOWNLOAD_MS = 120_000;

interface BotApiOptions {
  readonly token: string;
  readonly root: string;
}

interface BotCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

type WireSignal = Parameters<BotMethods["getMe"]>[0];

/** The token is part of every URL, so Vis replaces network errors. */
export class BotApi {
  readonly #wire: BotMethods;
  readonly #token: string;
  readonly #root: string;

  constructor({ token, root }: BotApiOptions) {
    this.#token = token;
    this.#root = root;
    // The library's time limit, in seconds, must be longer than the limits of Vis.
    this.#wire = new Api(token, { apiRoot: root, timeoutSeconds: 500, sensitiveLogs: false }).raw;
  }

  get botId(): string {
    return this.#token.split(":")[0] ?? "";
  }

  async call<T>(
    run: (wire: BotMethods, signal: WireSignal) => Promise<T>,
    { signal, timeoutMs = CALL_MS }: BotCallOptions,
  ): Promise<T> {
    const both = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      // The library's types name the signal of a package, but its web build accepts the platform's signal.
      return await run(this.#wire, both as unknown as WireSignal);
    } catch (error) {
      throw this.#told(error, { signal, timeoutMs });
    }
  }

  /** A Bot API server in local mode returns a path on its own disk, below a folder with the token as its name. */
  async download(
    path: string,
    { name, signal, maxBytes, tooLarge }: {
      readonly name: string;
      readonly signal: AbortSignal;
      readonly maxBytes: number;
      readonly tooLarge: () => UsageError;
    },
  ): Promise<Uint8Array<ArrayBuffer>> {
    const parts = path.split("/");
    const own = path.startsWith("/") ? parts.slice(parts.lastIndexOf(this.#token) + 1) : parts;
    if (parts.includes("..") || path.startsWith("/") && own.length === parts.length || own.join("") === "") {
      throw new TelegramError(
        `Cannot download ${name}: Telegram returned an invalid path for it; send the file again`,
        { code: "refused" },
      );
    }
    const both = AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_MS)]);
    const bounds = { maxBytes, tooLarge, signal: both };
    const address = `${this.#root}/file/bot${this.#token}/${own.map(encodeURIComponent).join("/")}`;
    try {
      if (path.startsWith("/") && isLoopback(new URL(this.#root).hostname)) {
        const file = await Deno.open(path).catch(() => null);
        if (file && (await file.stat()).isFile) return await readBounded(file.readable, bounds);
        file?.close();
      }
      const response = await fetch(address, { signal: both, redirect: "error" });
      if (!response.ok) {
        await response.body?.cancel();
        const local = path.startsWith("/")
          ? "; the Bot API server is in local mode, so let Vis read its files on this machine, or serve them below " +
            "/file/bot<token>/"
          : "; send the file again";
        throw new TelegramError(`Cannot download ${name}: Telegram responded with status ${response.status}${local}`, {
          code: response.status >= 500 ? "network" : "refused",
        });
      }
      return await readBounded(response.body ?? new Blob().stream(), bounds);
    } catch (error) {
      throw this.#told(error, { signal, timeoutMs: DOWNLOAD_MS });
    }
  }

  #told(error: unknown, { signal, timeoutMs }: Required<BotCallOptions>): Error {
    if (signal.aborted) return new Cancelled("Cancelled");
    if (error instanceof TelegramError || error instanceof UsageError) return error;
    if (error instanceof GrammyError) return this.#refusal(error);
    const cause = error instanceof HttpError ? error.error : error;
    const timedOut = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError");
    const { host } = new URL(this.#root);
    const message = cause instanceof SyntaxError
      ? `Cannot read the response of Telegram at ${host}: it is not JSON`
      : `Cannot reach Telegram at ${host}: ${
        timedOut ? `it did not answer within ${timeoutMs / 1000} s` : "the connection failed"
      }; check the network`;
    return new TelegramError(message, { code: "network" });
  }

  #refusal({ error_code: code, description, method, parameters }: GrammyError): TelegramError {
    const said = String(description).replaceAll(this.#token, "<token>");
    const message = `Cannot run ${method} of Telegram: it responded with ${code} ${said}`;
    // For a malformed token, Telegram reports that the address does not exist.
    if (code === 401 || code === 404 && method === "getMe") return new TelegramError(message, { code: "token" });
    if (code === 409) return new TelegramError(message, { code: "conflict", description: said });
    if (code === 429) {
      return new TelegramError(message, { code: "flood", retryAfterMs: 1000 * (parameters?.retry_after ?? 1) });
    }
    // A response without a code comes from an intermediary.
    if (!Number.isInteger(code) || code >= 500) return new TelegramError(message, { code: "network" });
    return new TelegramError(message, { code: "refused", description: said });
  }
}

/** `conflict` means that another program polls for the bot, or that a webhook is set. After `refused`, a repeated call
 * would fail again. */
type TelegramErrorCode = "token" | "conflict" | "flood" | "refused" | "network";

/** Telegram distinguishes these cases only by its message. `gone` means that the message no longer exists, or that the
 * bot may no longer edit it. */
type TelegramErrorDetail = "gone" | "unchanged" | "webhook" | null;

const DETAILS: readonly (readonly [words: RegExp, detail: TelegramErrorDetail])[] = [
  [/message to (edit|delete) not found|message can't be edited|MESSAGE_ID_INVALID/i, "gone"],
  [/message is not modified/i, "unchanged"],
  [/webhook/i, "webhook"],
];

/** `message` does not contain the token. */
export class TelegramError extends Error {
  override readonly name = "TelegramError";
  readonly code: TelegramErrorCode;
  readonly detail: TelegramErrorDetail;
  readonly retryAfterMs: number;

  constructor(
    message: string,
    facts: {
      readonly code: TelegramErrorCode;
      readonly description?: string;
      readonly retryAfterMs?: number;
    },
  ) {
    super(message);
    this.code = facts.code;
    this.detail = DETAILS.find(([words]) => words.test(facts.description ?? ""))?.[1] ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
  }
}

const WAITS = { firstMs: 1_000, mostMs: 60_000 };

export function backoff(failures: number, random: () => number): number {
  return Math.round(backoffMs(failures, { ...WAITS, random }));
}

export interface Waiting {
  readonly clock: BotClock;
  readonly log: Log;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

export async function untilReached<T>(call: () => Promise<T>, { clock, log, note, signal }: Waiting): Promise<T> {
  for (let failures = 1;; failures++) {
    try {
      const answer = await call();
      if (failures > 1) note("Telegram is reachable again");
      return answer;
    } catch (error) {
      if (!(error instanceof TelegramError) || error.code !== "network" && error.code !== "flood") throw error;
      if (failures === 1) note(`${error.message}. Vis tries again`);
      log.warn("telegram_not_reached", { failures });
      await clock.sleep(error.code === "flood" ? error.retryAfterMs : backoff(failures, clock.random), signal);
    }
  }
}

export interface BotClock extends Clock {
  random(): number;
}

export const REAL_BOT_CLOCK: BotClock = { ...REAL_CLOCK, random: Math.random };

export type BotMethods = Api["raw"];
export type Update = Awaited<ReturnType<BotMethods["getUpdates"]>>[number];
export type Message = NonNullable<Update["message"]>;
export type Me = Awaited<ReturnType<BotMethods["getMe"]>>;
export type MessageEntity = NonNullable<Message["entities"]>[number];
