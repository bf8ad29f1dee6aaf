import { Semaphore } from "../domain/kit/concurrency.ts";
import { NO_USAGE } from "../domain/query/model_call.ts";
import type { Router, RouterCallOptions, RouterReply, RouterRequest } from "../providers/router/router.ts";
import type { ModelRoute } from "../providers/router/routes.ts";
import type { Ledger, Spend } from "./ledger.ts";
import { chosenRoute, isPreference, type ModelCalls } from "./query_parts.ts";

const CHARS_PER_TOKEN = 4;
/** Concurrent model calls below queries, per process. Whoever holds a place waits only for its reply, so nesting cannot
 * deadlock. */
const AT_ONCE = 8;
const CALLS = new Semaphore(AT_ONCE);

/** The router behind the ledger of one query and the gate of the process. If `model` is set, that model serves. `gate`
 * is null for the calls of a user's own query: there is one at a time, and no conversation waits for others. */
export class LedgerCalls implements ModelCalls {
  readonly #router: ModelCalls;
  readonly #ledger: Ledger;
  readonly #gate: Semaphore | null;
  readonly #model: string | null;

  constructor(
    router: ModelCalls,
    options: { readonly ledger: Ledger; readonly model?: string | null; readonly gate?: Semaphore | null },
  ) {
    this.#router = router;
    this.#ledger = options.ledger;
    this.#gate = options.gate === undefined ? CALLS : options.gate;
    this.#model = options.model ?? null;
  }

  get routes(): readonly ModelRoute[] {
    return this.#router.routes;
  }

  current(): ReturnType<Router["current"]> {
    return chosenRoute(this.#router, this.#model);
  }

  /** Like the router; also rejects with `ProviderError` when a limit of the tree is reached, and when that limit is a
   * cost and the price of the model is unknown. */
  async ask(request: RouterRequest, options: RouterCallOptions): Promise<RouterReply> {
    const chars = request.messages.reduce((sum, { text }) => sum + text.length, 0);
    const inputTokens = Math.ceil(chars / CHARS_PER_TOKEN);
    const { price } = this.current().capabilities;
    // The ledger comes first, so that a call that waits there holds no place in the gate.
    const reservation = await this.#ledger.reserve({ inputTokens, price }, options.signal);
    let spent: Spend = { usage: NO_USAGE, costUsd: 0 };
    try {
      const chosen = { ...request, ...choiceOf(this.#model, request), priced: this.#ledger.priced };
      const call = (): Promise<RouterReply> => this.#router.ask(chosen, options);
      const reply = await (this.#gate?.run(call, options.signal) ?? call());
      spent = { usage: reply.usage, costUsd: reply.costUsd };
      return reply;
    } finally {
      reservation.settle(spent);
    }
  }
}

/** A model named in the request takes precedence. */
function choiceOf(model: string | null, request: RouterRequest): Partial<RouterRequest> {
  const name = request.model ?? model;
  if (name === null || name === undefined) return {};
  return isPreference(name) ? { prefer: request.prefer ?? name, model: null } : { model: name };
}
