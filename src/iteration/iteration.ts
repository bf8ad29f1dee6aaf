import type { JsonValue } from "../domain/kit/json.ts";
import type { BlockDiff } from "../domain/query/calls.ts";
import type { Emitter } from "../domain/query/query_event.ts";
import type { StepChild } from "../domain/query/query_progress.ts";
import type { AnswerType, Confidence, Usage } from "../domain/query/query_schemas.ts";
import type { Environment } from "../environment/environment.ts";
import type { Log } from "../logging/log.ts";
import type { IterationEnd, StoredBlock } from "../persistence/store.ts";
import type { CallPrefix } from "../prompt/call_messages.ts";
import type { ContextParts, JournalEntry } from "../prompt/context/context_parts.ts";
import type { Reply, ReplyFault } from "../prompt/reply/reply.ts";
import type { ReasoningLevel } from "../providers/provider.ts";
import type { Router } from "../providers/router/router.ts";
import type { ModelPreference } from "../providers/router/routes.ts";

/* One model round trip: ask, run the blocks, judge the answer, store.
 *
 * This file has the types of its input and of how it ends. `run_iteration.ts` does it, in this order: the messages
 * (`prompt/`), the call and what channels see of the reply while it arrives (`ask_model.ts`), the blocks, the final
 * (`settle_final.ts`). `recorder.ts` stores it: a row before anything runs, the rest in one transaction at the end. The
 * loop in `query/` stores the end while the next call is made, and decides what the iteration means for the query. */

/** What is constant over all iterations of a query. */
export interface IterationFrame extends CallPrefix {
  readonly environment: Environment;
  readonly router: Pick<Router, "ask" | "current">;
  readonly emitter: Emitter;
  readonly log: Log;
  readonly queryId: string;
  readonly deadlines: { readonly defaultMs: number; readonly minMs: number; readonly maxMs: number };
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** The input of one iteration. */
export interface IterationInput {
  /** 0-based position in the query. */
  readonly position: number;
  readonly context: ContextParts;
  /** What the user sent while the query ran, and `context` shows. */
  readonly steered: readonly string[];
  readonly reasoning: ReasoningLevel;
  /** Which of the configured models should serve, as requested by the last reply. */
  readonly prefer?: ModelPreference | null;
  /** True for the one call after the budget: it accepts only an answer and runs no block. */
  readonly last: boolean;
  /** The reason why the last final was refused; null if it was not. */
  readonly refusedBefore: string | null;
  /** Whether a block of the query has succeeded before. */
  readonly supported: boolean;
  /** Set by `answer(value)` in a block of this iteration. */
  readonly offered: () => OfferedAnswer | null;
  /** What the calls of this iteration changed in files. */
  readonly diffs: readonly BlockDiff[];
  /** Child queries of this iteration that have ended. */
  readonly children: readonly StepChild[];
  /** What the query and all queries below it have spent so far, and the number of its iterations plus `more`. */
  readonly totals: (more: 0 | 1) => {
    readonly iterations: number;
    readonly usage: Usage;
    readonly costUsd: number | null;
  };
  /** Resolves once the iteration before is stored and reported. The model is called meanwhile; nothing is shown or run
   * until then. If it rejects, the frame's signal ends the call. */
  readonly stored: Promise<void>;
  /** System variables to store with this iteration besides `$reasoning` and `$answer`. */
  readonly system: readonly { readonly name: string; readonly text: string }[];
}

export interface OfferedAnswer {
  readonly text: string;
  readonly type: AnswerType;
  readonly confidence: Confidence;
  /** 0-based index of the block that offered it. */
  readonly block: number;
  /** The value that the text was made from. */
  readonly value: unknown;
}

export interface AcceptedFinal {
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
  readonly notes: readonly string[];
  /** If the query has an answer schema: the data that satisfies it. */
  readonly value?: JsonValue;
}

/** The blocks of an iteration that ran. */
export interface Executed {
  readonly entries: readonly JournalEntry[];
  readonly blocks: readonly StoredBlock[];
  /** Stray errors and rejections, for the next context. */
  readonly notes: readonly string[];
}

/** Why a reply was unusable: what is wrong with it, that it had neither code nor final, that it broke off after part of
 * it was shown, or that the call returned none. */
export type IterationFault = ReplyFault | "idle" | "broken" | "call";

interface Common {
  /** The model that was called. */
  readonly model: string;
  readonly thinking: string;
  readonly entries: readonly JournalEntry[];
  readonly repairs: readonly string[];
  readonly next: Reply["next"];
  /** Messages of the sandbox besides results: stray errors, names that were restored. */
  readonly sandboxNotes: readonly string[];
}

/** How an iteration ended; `query/` decides what to do next. */
export type IterationResult =
  | (Common & { readonly kind: "final"; readonly final: AcceptedFinal })
  | (Common & { readonly kind: "executed" })
  | (Common & { readonly kind: "empty"; readonly fault: IterationFault })
  | (Common & { readonly kind: "refused"; readonly reason: string; readonly unsupported: string | null })
  | (Common & {
    readonly kind: "failed";
    readonly reason: string;
    /** A retry cannot help. */
    readonly fatal: boolean;
    /** Its cause may pass later. */
    readonly temporary: boolean;
    /** Null if every block failed. */
    readonly fault: IterationFault | null;
    /** Why the final that came with failed blocks was refused; null if there was none. */
    readonly refused: string | null;
    /** The answer, if it was refused twice and nothing supports it. */
    readonly unsupported: string | null;
    /** The reply, if it was plain text. */
    readonly prose: string | null;
  })
  | { readonly kind: "cancelled" };

/** An iteration that has ended. */
export interface Iterated {
  readonly result: IterationResult;
  /** Stores the iteration as it ended, by `write` if the end of the query is stored with it, and reports it. Call it
   * once. Rejects with `StoreError` or a defect. */
  readonly store: (write?: WriteEnd) => Promise<void>;
}

/** Writes the end of an iteration. */
export type WriteEnd = (iterationId: string, end: IterationEnd) => Promise<void>;
