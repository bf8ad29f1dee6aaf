import { Cancelled, ProviderError } from "../domain/errors.ts";
import type { ModelTrace } from "../domain/model_trace.ts";
import type { QueryEventBody } from "../domain/query_event.ts";
import type { ParsedReply } from "../prompt/reply.ts";
import { ReplyStream } from "../prompt/stream_reply.ts";
import type { ModelMessage } from "../providers/provider.ts";
import { NO_USAGE, type Usage } from "../domain/usage.ts";
import type { IterationFrame, IterationInput } from "./iteration.ts";

/** What one model call gave, however it went. */
export interface Asked {
  /** The raw reply, null where none arrived. */
  readonly text: string | null;
  readonly parsed: ParsedReply;
  readonly thinking: string;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly provider: string;
  readonly model: string;
  readonly traces: readonly ModelTrace[];
  readonly ms: number;
  /** The call failed in a way that asking again cannot mend. */
  readonly fatal: boolean;
}

const AFTER_REQUEST_MS = 40;

/** Asks the model once (the router retries), streaming thinking and code to the channels, from `told` on. Throws only
 * `Cancelled` and defects. */
export async function askModel(
  frame: IterationFrame,
  { messages, reasoning, told, prefer = null }:
    & { readonly messages: readonly ModelMessage[]; readonly told: Promise<void> }
    & Pick<IterationInput, "reasoning" | "prefer">,
): Promise<Asked> {
  const begun = performance.now();
  // The reader of replies and its schema library load while the model thinks, not before it is asked.
  const loading = setTimeout(() => void import("../prompt/parse_reply.ts"), AFTER_REQUEST_MS);
  const current = frame.router.current();
  const traces: ModelTrace[] = [];
  const stream = new ReplyStream();
  const emitter = new LateEmitter(frame.emitter, told);
  const events = forwardTo(emitter, stream);
  const base = () => ({ traces, ms: performance.now() - begun, provider: current.provider.name, model: current.model });
  try {
    const answer = await frame.router.ask({ messages, reasoning, prefer }, {
      signal: frame.signal,
      onEvent: events.on,
      onAttempt: (attempt) => traces.push({ ...attempt, repairs: [] }),
    });
    clearTimeout(loading);
    const { parseReply } = await import("../prompt/parse_reply.ts");
    const parsed = parseReply(answer.text);
    const said = parsed.ok ? parsed.reply.thinking : "";
    if (!events.thought() && said !== "" && !events.streamed()) emitter.send({ type: "thinking", delta: said });
    const last = traces.at(-1);
    if (last && parsed.ok) traces[traces.length - 1] = { ...last, repairs: parsed.reply.repairs };
    return {
      ...base(),
      text: answer.text,
      parsed,
      thinking: answer.reasoning || said,
      usage: answer.usage,
      costUsd: answer.costUsd,
      provider: answer.provider,
      model: answer.model,
      fatal: false,
    };
  } catch (error) {
    if (frame.signal.aborted) throw new Cancelled("Query cancelled");
    if (!(error instanceof ProviderError)) throw error;
    const parsed = { ok: false, reason: error.message } as const;
    const common = { parsed, text: null, thinking: "", usage: NO_USAGE, costUsd: null };
    return { ...base(), ...common, fatal: isInfrastructure(error) };
  }
}

/** Another call cannot help: the router has tried what there was to try. A request that was refused for what it says
 * (400, 422, a content filter, too long) is fed back, since the next one differs. */
function isInfrastructure(error: ProviderError): boolean {
  if (error.kind === "refused" || error.kind === "context") return false;
  return error.status !== 400 && error.status !== 422;
}

/** Keeps events until what came before them is told. */
class LateEmitter {
  #held: QueryEventBody[] | null = [];
  readonly #emitter: Pick<IterationFrame["emitter"], "send">;

  constructor(emitter: Pick<IterationFrame["emitter"], "send">, told: Promise<void>) {
    this.#emitter = emitter;
    told.then(() => this.#open(), () => {});
  }

  send(event: QueryEventBody): void {
    if (this.#held) this.#held.push(event);
    else this.#emitter.send(event);
  }

  #open(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const event of held) this.#emitter.send(event);
  }
}

function forwardTo(emitter: LateEmitter, stream: ReplyStream) {
  let native = false;
  let streamed = false;
  return {
    /** Native reasoning arrived, which wins over the reply's own thinking. */
    thought: () => native,
    streamed: () => streamed,
    on: (event: { readonly type: string; readonly delta?: string }): void => {
      if (event.delta === undefined) return;
      if (event.type === "reasoning") {
        native = true;
        return emitter.send({ type: "thinking", delta: event.delta });
      }
      const found = stream.push(event.delta);
      if (found.thinking && !native) {
        streamed = true;
        emitter.send({ type: "thinking", delta: found.thinking });
      }
      for (const { block, delta } of found.code) emitter.send({ type: "code", block, delta });
    },
  };
}
