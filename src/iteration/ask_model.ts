import { Cancelled, ProviderError, type ProviderErrorCode } from "../domain/errors.ts";
import { type ModelTrace, NO_USAGE } from "../domain/query/model_call.ts";
import type { QueryEventBody, Usage } from "../domain/query/query_schemas.ts";
import type { ParsedReply, Reply } from "../prompt/reply/reply.ts";
import { ReplyStream } from "../prompt/reply/stream_reply.ts";
import type { ModelEvent, ModelMessage } from "../providers/provider.ts";
import type { RouterReply } from "../providers/router/router.ts";
import type { IterationFault, IterationFrame, IterationInput } from "./iteration.ts";

/** The outcome of one model call, successful or not. */
export interface ModelCallOutcome {
  /** The raw reply, or the part of it before it broke off; null if nothing arrived. */
  readonly text: string | null;
  readonly parsed: { readonly ok: true; readonly reply: Reply } | {
    readonly ok: false;
    readonly reason: string;
    readonly fault: IterationFault;
  };
  readonly thinking: string;
  /** The reply was cut off at the model's maximum length. */
  readonly cut: boolean;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly provider: string;
  readonly model: string;
  readonly traces: readonly ModelTrace[];
  readonly ms: number;
  /** The call failed in a way that a retry cannot fix. */
  readonly fatal: boolean;
  /** The cause of the failure may pass later. */
  readonly temporary: boolean;
}

const AFTER_REQUEST_MS = 40;
/** Even if the router does not try them again. */
const PASSING: readonly ProviderErrorCode[] = ["rate", "network", "stall"];

/** Calls the model once (the router retries), streaming thinking and code to the channels once `announced` resolves.
 * Throws only `Cancelled` and defects. */
export async function askModel(
  frame: IterationFrame,
  { messages, reasoning, announced, prefer = null }:
    & { readonly messages: readonly ModelMessage[]; readonly announced: Promise<void> }
    & Pick<IterationInput, "reasoning" | "prefer">,
): Promise<ModelCallOutcome> {
  const begun = performance.now();
  // The reply parser and its repair library load while the model thinks, not before the call.
  const loading = setTimeout(() => void import("../prompt/reply/parse_reply.ts"), AFTER_REQUEST_MS);
  const traces: ModelTrace[] = [];
  // Held back until everything before them was reported.
  const send = (event: QueryEventBody): void => void announced.then(() => frame.emitter.send(event), () => {});
  const progress = new ReplyProgress(send);
  let shown = false;
  const facts = () => ({ traces, ms: performance.now() - begun });
  try {
    const answer = await frame.router.ask({ messages, reasoning, prefer }, {
      signal: frame.signal,
      onEvent: (event) => shown = progress.take(event) || shown,
      onAttempt: (attempt) => {
        traces.push({ ...attempt, repairs: [] });
        if (!attempt.ok && !shown) progress.again();
      },
      onPause: (pause) => send({ type: "retrying", ...pause }),
      onWait: (wait) => send({ type: "waiting", ...wait }),
    });
    clearTimeout(loading);
    const { nativeCallText, parseReply } = await import("../prompt/reply/parse_reply.ts");
    const parsed = parseReply(answer.text, answer);
    const text = answer.text === "" && answer.toolCall !== null ? nativeCallText(answer.toolCall) : answer.text;
    const said = parsed.ok ? parsed.reply.thinking : "";
    if (!progress.thought && said !== "") send({ type: "thinking", delta: said });
    const last = traces.at(-1);
    if (last && parsed.ok) traces[traces.length - 1] = { ...last, repairs: parsed.reply.repairs };
    return {
      ...facts(),
      ...servedBy({ ...answer, text }, parsed),
      thinking: answer.reasoning || said,
      fatal: false,
      temporary: false,
    };
  } catch (error) {
    if (frame.signal.aborted) throw new Cancelled("Query cancelled");
    if (!(error instanceof ProviderError)) throw error;
    const { provider, model } = traces.at(-1) ?? currentOf(frame);
    return { ...facts(), ...failedWith(error, { progress, brokeOff: shown && error.retryable }), provider, model };
  }
}

/** The outcome of a call without a complete reply. */
function failedWith(
  error: ProviderError,
  { progress, brokeOff }: { readonly progress: ReplyProgress; readonly brokeOff: boolean },
): Omit<ModelCallOutcome, "traces" | "ms" | "provider" | "model"> {
  return {
    text: progress.text || null,
    parsed: { ok: false, reason: error.message, fault: brokeOff ? "broken" : "call" },
    thinking: progress.thinking,
    cut: false,
    usage: NO_USAGE,
    costUsd: null,
    fatal: !brokeOff && isInfrastructure(error),
    temporary: error.retryable || PASSING.includes(error.code),
  };
}

function servedBy(
  { text, usage, costUsd, provider, model, finish }: RouterReply,
  parsed: ParsedReply,
): Pick<ModelCallOutcome, "text" | "parsed" | "cut" | "usage" | "costUsd" | "provider" | "model"> {
  const cut = finish === "length";
  const reply = cut && !parsed.ok
    ? {
      ...parsed,
      fault: "cut" as const,
      reason: `The length limit of the model ${model} cut the reply. ${parsed.reason}`,
    }
    : parsed;
  return { text, parsed: reply, cut, usage, costUsd, provider, model };
}

function currentOf({ router }: IterationFrame): Pick<ModelCallOutcome, "provider" | "model"> {
  const { provider, model } = router.current();
  return { provider: provider.name, model };
}

/** Another call cannot help, because the router has tried every option. A request that was refused for its content
 * (400, 422, a content filter, too long) and a reply that was too long are fed back, since the next one differs. */
function isInfrastructure(error: ProviderError): boolean {
  if (error.code === "refused" || error.code === "context" || error.code === "reply") return false;
  return error.status !== 400 && error.status !== 422;
}

type Delta = Exclude<ModelEvent, { type: "end" }>;

/** One reply while it arrives: what channels see of it, and what remains if it breaks off. */
class ReplyProgress {
  readonly #send: (event: QueryEventBody) => void;
  #stream = new ReplyStream();
  #text: string[] = [];
  #reasoning: string[] = [];
  #thinking: string[] = [];

  constructor(send: (event: QueryEventBody) => void) {
    this.#send = send;
  }

  /** The text so far. */
  get text(): string {
    return this.#text.join("");
  }

  /** The model's thinking so far: its native reasoning, else the reply's own thinking. */
  get thinking(): string {
    return this.#reasoning.join("") || this.#thinking.join("");
  }

  /** Whether thinking was shown. */
  get thought(): boolean {
    return this.#reasoning.length > 0 || this.#thinking.length > 0;
  }

  /** Returns true if part of it is shown: code, and native reasoning, which takes precedence over the reply's own
   * thinking. */
  take(event: Delta): boolean {
    if (event.type === "reasoning") {
      this.#reasoning.push(event.delta);
      this.#send({ type: "thinking", delta: event.delta });
      return true;
    }
    this.#text.push(event.delta);
    const { thinking, code } = this.#stream.push(event.delta);
    const isOwn = thinking !== "" && this.#reasoning.length === 0;
    if (isOwn) {
      this.#thinking.push(thinking);
      this.#send({ type: "thinking", delta: thinking });
    }
    for (const { block, delta } of code) this.#send({ type: "code", block, delta });
    return isOwn || code.length > 0;
  }

  /** The reply is requested again: what arrived so far, of which nothing was shown, is discarded. */
  again(): void {
    this.#stream = new ReplyStream();
    this.#text = [];
  }
}
