import { Buffer } from "node:buffer";
import type { JsonValue } from "../domain/kit/json.ts";
import { clip } from "../domain/kit/text.ts";
import type { BlockDiff, LateCall } from "../domain/query/host_call.ts";
import type { ModelTrace } from "../domain/query/model_call.ts";
import { type IterationOutcome, outcomeOf } from "../domain/query/outcomes.ts";
import type { Emitter } from "../domain/query/query_event.ts";
import type { StepChild } from "../domain/query/query_progress.ts";
import type { AnswerType, Confidence, Usage } from "../domain/query/query_schemas.ts";
import type { Environment } from "../environment/environment.ts";
import type { Log } from "../logging/log.ts";
import type { IterationEnd, StoredBlock, StoredIteration } from "../persistence/store.ts";
import type { ContextParts, JournalEntry } from "../prompt/context_message.ts";
import type { CallPrefix } from "../prompt/prompt.ts";
import type { Reply, ReplyBlock, ReplyFault } from "../prompt/reply/reply.ts";
import type { ModelMessage, ReasoningLevel } from "../providers/provider.ts";
import type { Router } from "../providers/router/router.ts";
import type { ModelPreference } from "../providers/router/routes.ts";

export interface IterationFrame extends CallPrefix {
  readonly environment: Environment;
  readonly router: Pick<Router, "ask" | "current">;
  readonly emitter: Emitter;
  readonly log: Log;
  readonly queryId: string;
  readonly deadlines: { readonly defaultMs: number; readonly minMs: number; readonly maxMs: number };
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly askedMs: () => number;
}

export interface IterationInput {
  readonly position: number;
  readonly context: ContextParts;
  readonly steered: readonly string[];
  readonly reasoning: ReasoningLevel;
  readonly prefer?: ModelPreference | null;
  readonly last: boolean;
  readonly refusedBefore: string | null;
  readonly supported: boolean;
  /** The consecutive replies of text before this call, as in `QueryState`. */
  readonly texts: readonly string[];
  /** These doubts refuse no answer: each has already refused an answer of this query, or this call is the last. */
  readonly doubted: readonly Doubt[];
  readonly unsupportedClaim: (text: string) => string | null;
  readonly missingFiles: (answer: { readonly text: string; readonly value?: JsonValue }) => Promise<readonly string[]>;
  /** After some work of the query, a report such as "Done." is an answer. */
  readonly worked: () => boolean;
  readonly offered: () => OfferedAnswer | null;
  readonly diffs: readonly BlockDiff[];
  /** Returns calls that have ended after their block, each once. */
  readonly takeLate: () => readonly LateCall[];
  readonly children: readonly StepChild[];
  readonly asked: readonly string[];
  readonly totals: () => {
    readonly iterations: number;
    readonly usage: Usage;
    readonly costUsd: number | null;
  };
  /** Before Vis has stored the previous iteration, no block runs and no output appears. */
  readonly stored: Promise<void>;
  readonly system: readonly { readonly name: string; readonly text: string }[];
}

export interface OfferedAnswer {
  readonly text: string;
  readonly type: AnswerType;
  readonly confidence: Confidence;
  readonly block: number;
  readonly value: unknown;
}

export interface AcceptedFinal {
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
  readonly notes: readonly string[];
  readonly value?: JsonValue;
}

/** A doubt refuses an answer once in a query. "output" means that the model has not seen the output of a failed
 * command. "claim" means that the query did not do the claimed work, and "files" that a finding names a missing
 * file. */
export const DOUBTS = ["output", "claim", "files"] as const;
export type Doubt = typeof DOUBTS[number];

export interface Executed {
  readonly entries: readonly JournalEntry[];
  readonly blocks: readonly StoredBlock[];
  readonly notes: readonly string[];
}

/** "idle" means neither an answer nor code that may run, "broken" a retryable failure after shown output, and "call"
 * another failure. */
export type IterationFault = ReplyFault | "idle" | "broken" | "call";

interface Common {
  readonly model: string;
  readonly thinking: string;
  readonly entries: readonly JournalEntry[];
  readonly repairs: readonly string[];
  readonly next: Reply["next"];
  readonly sandboxNotes: readonly string[];
  readonly doubt: Doubt | null;
}

export type IterationResult =
  | (Common & { readonly kind: "final"; readonly final: AcceptedFinal })
  | (Common & { readonly kind: "executed" })
  | (Common & {
    readonly kind: "empty";
    readonly fault: IterationFault;
    readonly reason: string | null;
  })
  | (Common & { readonly kind: "refused"; readonly reason: string; readonly unsupported: string | null })
  | (Common & {
    readonly kind: "failed";
    readonly reason: string;
    readonly fatal: boolean;
    readonly temporary: boolean;
    readonly fault: IterationFault | null;
    readonly refused: string | null;
    readonly unsupported: string | null;
    readonly prose: string | null;
  })
  | {
    readonly kind: "cancelled";
    readonly begun: { readonly thinking: string } | null;
  };

export interface Iterated {
  readonly result: IterationResult;
  /** The caller must call `store` once; `write` can store the end of the query in the transaction of the iteration. */
  readonly store: (write?: WriteEnd) => Promise<void>;
}

type WriteEnd = (iterationId: string, end: IterationEnd) => Promise<void>;

export interface ModelCallOutcome {
  readonly text: string | null;
  readonly parsed: { readonly ok: true; readonly reply: Reply } | {
    readonly ok: false;
    readonly reason: string;
    readonly fault: IterationFault;
  };
  /** A reply of plain text can be the answer after this number of consecutive replies of text. A text with fences can be
   * the answer if every block fails without a call, and the previous reply has the same text. */
  readonly prose: { readonly text: string; readonly after: number } | null;
  readonly thinking: string;
  readonly cut: boolean;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly provider: string;
  readonly model: string;
  readonly traces: readonly ModelTrace[];
  readonly ms: number;
  readonly fatal: boolean;
  readonly temporary: boolean;
}

interface Ended {
  readonly status: "done" | "error" | "interrupted";
  readonly outcome: IterationOutcome;
  readonly executed: Executed;
  readonly reason: string | null;
  readonly final: AcceptedFinal | null;
  readonly doubt?: Doubt | null;
}

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

  /** If Vis cannot store the row, this promise rejects, and so does the function that `ending` returns. */
  begin(blocks: readonly ReplyBlock[]): Promise<unknown> {
    this.#begun = this.#begin(blocks);
    this.#begun.catch(() => {});
    return this.#begun;
  }

  async #begin(blocks: readonly ReplyBlock[]): Promise<string> {
    const { environment } = this.#frame;
    const { usage, costUsd } = this.#input.totals();
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

  /** The caller must call `bindThinking` before the first block, because blocks may read `$reasoning`. */
  bindThinking(): void {
    const { thinking } = this.#asked;
    if (thinking) this.#frame.environment.bindSystem("$reasoning", thinking);
  }

  /** Captures the state at the time of the call; the returned function stores this state. */
  ending({ status, outcome, executed, reason, final, doubt = null }: Ended): (write?: WriteEnd) => Promise<void> {
    const begun = this.#begun;
    if (begun === null) throw new Error("Cannot end the step: it has not begun");
    const { environment } = this.#frame;
    const answer = final?.answer ?? null;
    if (answer !== null) environment.bindSystem("$answer", answer);
    const { scopes, done } = environment.storing();
    const end = {
      status,
      blocks: executed.blocks,
      late: this.#input.takeLate(),
      system: this.#system(answer),
      scopes,
      error: reason,
      empty: executed.blocks.length === 0 && answer === null,
      totals: this.#input.totals(),
      metadata: {
        outcome,
        notes: executed.notes,
        walls: environment.walls,
        grants: environment.active?.grants ?? null,
        ...(this.#input.diffs.length > 0 ? { diffs: [...this.#input.diffs] } : {}),
        ...(this.#input.children.length > 0 ? { children: [...this.#input.children] } : {}),
        ...(this.#input.asked.length > 0 ? { asked: [...this.#input.asked] } : {}),
        ...(doubt === null ? {} : { doubt }),
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
      totals: this.#input.totals(),
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

/** The store has no faults of replies, so a failed iteration without blocks counts as a failed model call. */
export function storedResult(stored: StoredIteration): Exclude<IterationResult, { readonly kind: "cancelled" }> {
  const { metadata, thinking, error } = stored;
  const { notes, doubt } = metadata;
  const common = {
    model: "",
    thinking,
    entries: stored.blocks.map(({ code, result, value }) => ({ code, result, value })),
    repairs: [],
    next: { model: null, reasoning: null },
    sandboxNotes: Array.isArray(notes) ? notes.map(String) : [],
    doubt: DOUBTS.find((one) => one === doubt) ?? null,
  };
  switch (outcomeOf(metadata)) {
    case "executed":
      return { ...common, kind: "executed" };
    case "refused":
      return { ...common, kind: "refused", reason: error ?? "", unsupported: null };
    case "empty":
      return { ...common, kind: "empty", fault: "idle", reason: error };
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
