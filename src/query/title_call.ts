import { clip, oneLine } from "../domain/text/clip.ts";
import { takeFirstThinking } from "../prompt/reply/think_parts.ts";
import { Cancelled } from "../domain/errors.ts";
import { NO_USAGE } from "../domain/query/usage.ts";
import type { PreviousTurn } from "../persistence/store/query_store.ts";
import type { RouterReply } from "../providers/router/router.ts";
import { Ledger } from "./ledger.ts";
import { LedgerCalls } from "./ledger_calls.ts";
import type { QueryParts } from "./query_parts.ts";

const NO_LIMITS = { costUsd: null, tokens: null, wallMs: null };
const TITLE_CHARS = 100;
const REQUEST_CHARS = 4000;
/** How long the end of a query waits for the title. */
const PATIENCE_MS = 10_000;
const RULES =
  "Give a title of at most eight words to the conversation that begins with this request. Answer with the title alone, in the language of the request, without quotes.";

type Parts = Pick<QueryParts, "environment" | "store" | "router" | "log" | "settings">;

interface TitleFacts {
  readonly parts: Parts;
  readonly ledger: Ledger;
  readonly request: string;
  /** Ends the call. */
  readonly stop: AbortController;
}

/** A model names a new conversation while its first query runs, if the user configured it. The call counts towards the
 * query; the query continues even if it fails. */
export class TitleCall {
  readonly #facts: TitleFacts;
  readonly #reply: Promise<RouterReply | Error>;
  readonly #begun = performance.now();

  protected constructor(facts: TitleFacts, reply: Promise<RouterReply>) {
    this.#facts = facts;
    this.#reply = reply.catch((error: unknown) => error instanceof Error ? error : new Error(String(error)));
  }

  /** Null if no model is to be called: because of the settings, in a child query, or in a conversation that already had
   * a query. */
  static async begin(
    request: string,
    { parts, before, ledger, signal }: {
      readonly parts: Parts;
      readonly before: PreviousTurn | null;
      readonly ledger: Ledger;
      readonly signal: AbortSignal;
    },
  ): Promise<TitleCall | null> {
    const { environment, settings, store, router } = parts;
    const model = settings.titleModel ?? null;
    if (model === null || before !== null || environment.depth > 0 || ledger.reached()) return null;
    const { branchId } = environment.branch;
    // If the title has changed, the user or a model set it.
    if ((await store.findConversation(branchId))?.title !== titleOf(request)) return null;
    const stop = new AbortController();
    // Not behind the query's ledger: the first two calls must not wait for each other.
    const own = Ledger.open({ ...NO_LIMITS, priced: ledger.priced }, () => 0);
    const calls = new LedgerCalls(router, { ledger: own, model });
    const text = `${RULES}\n\n${clip(request, REQUEST_CHARS)}`;
    const reply = calls.ask({ messages: [{ role: "user", text }], reasoning: "quick" }, {
      signal: AbortSignal.any([signal, stop.signal]),
    });
    return new TitleCall({ parts, ledger, request, stop }, reply);
  }

  /** Waits for the title, counts its call and stores both. Never rejects. */
  async end({ patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {}): Promise<void> {
    const { parts: { log }, stop } = this.#facts;
    const timer = setTimeout(() => stop.abort(), patienceMs);
    try {
      await this.#take(await this.#reply);
    } catch (error) {
      log.warn("title_not_made", { error: String(error) });
    } finally {
      clearTimeout(timer);
    }
  }

  async #take(reply: RouterReply | Error): Promise<void> {
    const { parts: { environment, store, log }, ledger, request } = this.#facts;
    if (reply instanceof Cancelled) return;
    if (!(reply instanceof Error)) ledger.count(reply);
    await this.#record(reply);
    if (reply instanceof Error) return log.warn("title_not_made", { error: reply.message });
    const title = titleIn(reply.text);
    if (title === "") return;
    await store.suggestTitle(environment.branch.branchId, { title, instead: titleOf(request) });
  }

  async #record(reply: RouterReply | Error): Promise<void> {
    const { parts: { environment, store, router } } = this.#facts;
    const { iterationId } = environment;
    if (iterationId === null) return;
    const call = { iterationId, prompt: RULES, ms: performance.now() - this.#begun };
    if (!(reply instanceof Error)) {
      return await store.recordSubCall({ ...reply, ...call, reply: reply.text, error: null });
    }
    const { provider, model } = router.current();
    const none = { usage: NO_USAGE, costUsd: null, reply: null };
    await store.recordSubCall({ ...call, ...none, provider: provider.name, model, error: reply.message });
  }
}

/** The title that a conversation gets from its first request. */
function titleOf(request: string): string {
  return oneLine(request, TITLE_CHARS).toWellFormed();
}

/** The first meaningful line of a reply, without what models put around it. */
function titleIn(text: string): string {
  const { body } = takeFirstThinking(text);
  const line = body.split("\n").map((one) => one.trim()).find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  const bare = line.replace(/^(?:#+\s*|title:\s*|[\s"'“”«»*_`]+)+/i, "").replace(/[\s"'“”«»*_`]+$/, "");
  return oneLine(bare.toWellFormed(), TITLE_CHARS);
}
