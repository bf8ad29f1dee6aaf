import { Buffer } from "node:buffer";
import { clip } from "../domain/kit/text.ts";
import { type IterationOutcome, outcomeOf } from "../domain/query/outcomes.ts";
import type { StoredIteration } from "../persistence/store.ts";
import type { ReplyBlock } from "../prompt/reply/reply.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ModelCallOutcome } from "./ask_model.ts";
import type {
  AcceptedFinal,
  Executed,
  IterationFrame,
  IterationInput,
  IterationResult,
  WriteEnd,
} from "./iteration.ts";

/** How an iteration ended. */
interface Ended {
  readonly status: "done" | "error" | "interrupted";
  readonly outcome: IterationOutcome;
  readonly executed: Executed;
  readonly reason: string | null;
  readonly final: AcceptedFinal | null;
}

/** Stores one iteration: its row when the reply is complete, everything else in one transaction at its end. */
export class Recorder {
  readonly #frame: IterationFrame;
  readonly #input: IterationInput;
  readonly #asked: ModelCallOutcome;
  readonly #messages: readonly ModelMessage[];
  #begun: Promise<string> | null = null;

  constructor(
    frame: IterationFrame,
    { input, asked, messages }: {
      readonly input: IterationInput;
      readonly asked: ModelCallOutcome;
      readonly messages: readonly ModelMessage[];
    },
  ) {
    this.#frame = frame;
    this.#input = input;
    this.#asked = asked;
    this.#messages = messages;
  }

  /** Rejects if the row cannot be stored; what `ending` returns then rejects as well. */
  begin(blocks: readonly ReplyBlock[]): Promise<unknown> {
    this.#begun = this.#begin(blocks);
    this.#begun.catch(() => {});
    return this.#begun;
  }

  async #begin(blocks: readonly ReplyBlock[]): Promise<string> {
    const { environment } = this.#frame;
    const { usage, costUsd } = this.#input.totals(0);
    const row = {
      ...this.#row(),
      response: this.#asked.text ?? "",
      blocks: blocks.map(({ expr }) => expr),
      spent: { usage, costUsd },
    };
    const id = await environment.store.beginIteration(row);
    environment.iterationBegun(id);
    return id;
  }

  /** Called before any block runs, because blocks may read `$reasoning`. */
  bindThinking(): void {
    const { thinking } = this.#asked;
    if (thinking) this.#frame.environment.bindSystem("$reasoning", thinking);
  }

  /** Takes the state at the time of the call. Returns what stores it, by `write` if given. */
  ending({ status, outcome, executed, reason, final }: Ended): (write?: WriteEnd) => Promise<void> {
    const begun = this.#begun;
    if (begun === null) throw new Error("Cannot end an iteration that was not begun");
    const { environment } = this.#frame;
    const answer = final?.answer ?? null;
    if (answer !== null) environment.bindSystem("$answer", answer);
    const { scopes, done } = environment.storing();
    const end = {
      status,
      blocks: executed.blocks,
      system: this.#system(answer),
      scopes,
      error: reason,
      empty: executed.blocks.length === 0 && answer === null,
      totals: this.#input.totals(status === "interrupted" ? 0 : 1),
      metadata: {
        outcome,
        notes: executed.notes,
        walls: environment.walls,
        grants: environment.active?.grants ?? null,
        ...(this.#input.diffs.length > 0 ? { diffs: [...this.#input.diffs] } : {}),
        ...(this.#input.children.length > 0 ? { children: [...this.#input.children] } : {}),
        ...(final ? { answerType: final.answerType, confidence: final.confidence, answerNotes: final.notes } : {}),
      },
    };
    const { store } = environment;
    return async (write = (id, end) => store.endIteration(id, end)) => {
      const id = await begun;
      await write(id, end);
      done();
      this.#logFailed(id, executed);
    };
  }

  #logFailed(iterationId: string, { blocks }: Executed): void {
    for (const [block, { result: { ok, outcome, error, ms } }] of blocks.entries()) {
      if (ok) continue;
      const why = error === null ? "" : clip(`${error.name}: ${error.message}`, 300);
      this.#frame.log.info("block_failed", { iterationId, block, outcome, error: why, ms });
    }
  }

  /** Records a reply that could not be read or broke off, or a missing one. */
  async fail(reason: string): Promise<void> {
    if (this.#asked.text !== null || this.#asked.thinking !== "") {
      this.bindThinking();
      await this.begin([]);
      const executed = { entries: [], blocks: [], notes: [] };
      return await this.ending({ status: "error", outcome: "failed", executed, reason, final: null })();
    }
    const { environment } = this.#frame;
    const id = await environment.store.failIteration(this.#row(), {
      error: reason,
      system: this.#system(null),
      totals: this.#input.totals(1),
      metadata: { outcome: "failed" },
    });
    environment.iterationBegun(id);
  }

  #row() {
    const { provider, model, thinking, traces, ms, parsed, cut } = this.#asked;
    const ending = cut ? "cut" : !parsed.ok && parsed.fault === "broken" ? "broken" : null;
    const sent = this.#messages.map(({ role, text }) => ({ role, content: text }));
    const requestBytes = this.#messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    return {
      queryId: this.#frame.queryId,
      position: this.#input.position,
      systemPrompt: this.#frame.system,
      userPrompt: JSON.stringify(sent.filter(({ role }) => role !== "system")),
      provider,
      model,
      thinking,
      traces,
      modelMs: ms,
      given: this.#frame.environment.given.images,
      metadata: {
        extensions: this.#frame.environment.active?.list ?? [],
        requestBytes,
        costUsd: this.#asked.costUsd,
        budget: this.#input.context.budget,
        last: this.#input.last,
        ...(ending === null ? {} : { ending }),
      },
    };
  }

  #system(answer: string | null): readonly { readonly name: string; readonly text: string }[] {
    const { thinking } = this.#asked;
    return [
      ...this.#input.system,
      ...(thinking ? [{ name: "$reasoning", text: thinking }] : []),
      ...(answer !== null ? [{ name: "$answer", text: answer }] : []),
    ];
  }
}

/** What the loop gets for an iteration that was stored. Only what makes it an unusable reply is not kept, so counting
 * such replies begins anew. */
export function storedResult(stored: StoredIteration): Exclude<IterationResult, { readonly kind: "cancelled" }> {
  const { metadata, thinking, error } = stored;
  const notes: unknown = metadata["notes"];
  const common = {
    model: "",
    thinking,
    entries: stored.blocks.map(({ code, result, value }) => ({ code, result, value })),
    repairs: [],
    next: { model: null, reasoning: null },
    sandboxNotes: Array.isArray(notes) ? notes.map(String) : [],
  };
  switch (outcomeOf(metadata)) {
    case "executed":
      return { ...common, kind: "executed" };
    case "refused":
      return { ...common, kind: "refused", reason: error ?? "", unsupported: null };
    case "empty":
      return { ...common, kind: "empty", fault: "idle" };
    default: {
      const reason = error ?? "every block failed";
      const fault = common.entries.length > 0 ? null : "call";
      return {
        ...common,
        kind: "failed",
        reason,
        fatal: false,
        temporary: false,
        fault,
        refused: null,
        unsupported: null,
        prose: null,
      };
    }
  }
}
