import { messageOf } from "../domain/kit/message_of.ts";
import { ENDED } from "../domain/kit/ended.ts";
import { Cancelled, HostCallError } from "../domain/errors.ts";
import type { SubcallFunctions, SubcallOptions } from "../environment/query_scope.ts";
import type { ChildOptions, ChildResult } from "../extension/spec.ts";
import { oneLine } from "../domain/text/clip.ts";
import { takeFirstThinking } from "../prompt/reply/think_parts.ts";
import { NO_USAGE } from "../domain/query/usage.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { RouterCallOptions, RouterReply } from "../providers/router/router.ts";
import type { Environment } from "../environment/environment.ts";
import type { ChildStore } from "../persistence/store/child_store.ts";
import type { Ledger } from "./ledger.ts";
import type { ModelCalls } from "./ledger_calls.ts";

export interface SubcallParts {
  readonly environment: Environment;
  readonly store: ChildStore;
  readonly calls: ModelCalls;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
  /** Called before a call is retried. */
  readonly onPause: NonNullable<RouterCallOptions["onPause"]>;
  readonly onWait: NonNullable<RouterCallOptions["onWait"]>;
  /** Runs a child query to its end. */
  readonly runChild: (task: string, options: ChildOptions & { readonly signal: AbortSignal }) => Promise<ChildResult>;
}

/** Sub-calls and child queries of one query's blocks. */
export class Subcalls implements SubcallFunctions {
  readonly #parts: SubcallParts;
  readonly #stop = new AbortController();
  readonly #answers = new Map<string, Promise<string>>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(parts: SubcallParts) {
    this.#parts = parts;
  }

  /** The same call gets the same answer, even while the first one is under way. Rejects with `HostCallError` and
   * `Cancelled`. */
  async ask(prompt: string, options: SubcallOptions & { readonly system?: string }): Promise<string> {
    const key = JSON.stringify([prompt, options.system ?? null, options.model ?? null]);
    const known = this.#answers.get(key);
    if (known) {
      try {
        return await known;
      } catch (error) {
        // The first caller has cancelled, not this one.
        if (!(error instanceof Cancelled) || options.signal.aborted) throw error;
      }
    }
    const asking = this.#keep(this.#ask(prompt, options));
    this.#answers.set(key, asking);
    asking.catch(() => this.#answers.delete(key));
    return await asking;
  }

  async runChild(task: string, options: ChildOptions & SubcallOptions): Promise<ChildResult> {
    return await this.#keep(this.#parts.runChild(task, { ...options, signal: this.#signal(options.signal) }));
  }

  /** Ends what is still running and waits for it: nothing outlives its query. */
  async close(): Promise<void> {
    this.#stop.abort(ENDED);
    await Promise.allSettled([...this.#running]);
  }

  #signal(call: AbortSignal): AbortSignal {
    return AbortSignal.any([call, this.#parts.signal, this.#stop.signal]);
  }

  #keep<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    work.catch(() => {}).finally(() => this.#running.delete(work));
    return work;
  }

  async #ask(prompt: string, options: SubcallOptions & { readonly system?: string }): Promise<string> {
    const { ledger, calls } = this.#parts;
    const signal = this.#signal(options.signal);
    if (signal.aborted) throw new Cancelled("Query cancelled");
    ledger.countSubcall("ask");
    const begun = performance.now();
    const { capabilities } = calls.current();
    const messages = messagesOf(prompt, { system: options.system, alternating: capabilities.alternatingRoles });
    let reply: RouterReply;
    try {
      const { onPause, onWait } = this.#parts;
      reply = await calls.ask({ messages, reasoning: "balanced", model: options.model ?? null }, {
        signal,
        onPause,
        onWait,
      });
    } catch (error) {
      if (error instanceof Cancelled || signal.aborted) throw new Cancelled("Query cancelled");
      const message = messageOf(error);
      await this.#record(prompt, { error: message, ms: performance.now() - begun });
      throw new HostCallError(message, { namespace: "vis", symbol: "ask" }, { cause: error });
    }
    const { text, fault, hint } = answerIn(reply);
    await this.#record(prompt, { reply, error: fault, ms: performance.now() - begun });
    if (fault !== null) throw new HostCallError(fault, { namespace: "vis", symbol: "ask", ...hint ? { hint } : {} });
    return text;
  }

  async #record(
    prompt: string,
    outcome:
      & { readonly ms: number }
      & ({ readonly reply: RouterReply; readonly error: string | null } | { readonly error: string }),
  ): Promise<void> {
    const { environment, store, calls } = this.#parts;
    const iterationId = environment.iterationId;
    if (iterationId === null) return;
    const { provider, model } = calls.current();
    const { ms } = outcome;
    if (!("reply" in outcome)) {
      const none = { usage: NO_USAGE, costUsd: null, reply: null };
      return await store.recordSubCall({
        iterationId,
        provider: provider.name,
        model,
        prompt,
        ...none,
        error: outcome.error,
        ms,
      });
    }
    const { reply, error } = outcome;
    const text = error === null ? reply.text : null;
    await store.recordSubCall({ ...reply, iterationId, prompt, reply: text, error, ms });
  }
}

function messagesOf(
  prompt: string,
  { system, alternating }: { readonly system: string | undefined; readonly alternating: boolean },
): ModelMessage[] {
  if (!system) return [{ role: "user", text: prompt }];
  if (alternating) return [{ role: "user", text: `${system}\n\n${prompt}` }];
  return [{ role: "system", text: system }, { role: "user", text: prompt }];
}

interface SubAnswer {
  readonly text: string;
  /** Why it is none; null if it is. */
  readonly fault: string | null;
  readonly hint?: string;
}

/** The text of a reply without the thinking in it. A truncated reply that looks complete would be taken for the
 * answer, and so would the empty text beside a call of a tool. */
function answerIn({ model, text, reasoning, toolCall, finish }: RouterReply): SubAnswer {
  const fault = (why: string, hint?: string) => ({
    text: "",
    fault: `Cannot use the reply: ${why}`,
    ...hint ? { hint } : {},
  });
  if (finish === "length") {
    const why = `the length limit of the model ${model} cut it after ${text.length} characters`;
    return fault(why, "ask for less at once, or for a shorter answer");
  }
  const { thinking, body, unclosed } = takeFirstThinking(text);
  if (unclosed !== "") return fault(`the thinking of the model ${model} has no end, and no answer follows it`);
  if (body.trim() !== "") return { text: thinking === "" ? text : body.trimStart(), fault: null };
  if (toolCall !== null) {
    return fault(
      `the model ${model} called ${oneLine(toolCall, 200)}, but it has no tools`,
      "ask for the answer as text",
    );
  }
  return thinking + reasoning === "" ? { text, fault: null } : fault(`the model ${model} sent thinking and no answer`);
}
