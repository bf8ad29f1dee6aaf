import type { ModelTrace, SentMessage } from "../../domain/query/model_call.ts";
import type { QueryStatus } from "../../domain/query/outcomes.ts";
import type { BlockResult, Usage } from "../../domain/query/query_schemas.ts";
import type { IterationRange } from "../../domain/query/stored_query.ts";
import type { VariableImage } from "../../domain/query/variable.ts";

/** What is known once a reply is complete and before its blocks run. */
export interface NewIteration {
  readonly queryId: string;
  /** 0-based. */
  readonly position: number;
  readonly systemPrompt: string;
  /** The message list that was sent, as JSON. */
  readonly userPrompt: string;
  readonly provider: string;
  readonly model: string;
  readonly response: string;
  readonly thinking: string;
  /** Every attempt at the model call. */
  readonly traces: readonly ModelTrace[];
  readonly modelMs: number;
  /** Source texts of the blocks that are about to run. */
  readonly blocks: readonly string[];
  /** What the query has spent so far, this reply included. */
  readonly spent?: Pick<IterationEnd["totals"], "usage" | "costUsd">;
  /** Versions that no block made: input of the query, as of this iteration. They are stored with its row. */
  readonly given?: readonly VariableImage[];
  /** Stored with that of `endIteration`, and until then with `pendingBlocks`, the source texts of the blocks. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredBlock {
  readonly code: string;
  readonly result: BlockResult;
  readonly reads: readonly string[];
  /** By variable: what it was made from, where that is known better than by `reads`. */
  readonly madeFrom?: ReadonlyMap<string, readonly string[]>;
  readonly literal: boolean;
  /** The value as codec bytes if it is kept, else null. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** Versions that this block made. */
  readonly saved: readonly VariableImage[];
}

export interface IterationEnd {
  readonly status: "done" | "error" | "interrupted";
  readonly blocks: readonly StoredBlock[];
  /** User variables that left the scope in this iteration, and those that came back. */
  readonly scopes?: { readonly forgotten: readonly string[]; readonly live: readonly string[] };
  /** Versions of `$query`, `$reasoning` and `$answer`: name and text. */
  readonly system: readonly { readonly name: string; readonly text: string }[];
  readonly error: string | null;
  readonly empty: boolean;
  /** Running totals of the query so far, merged into its metadata. */
  readonly totals: { readonly iterations: number; readonly usage: Usage; readonly costUsd: number | null };
  /** Merged into the iteration's metadata: outcome, refusal, attempts line, budget after it … */
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface StoredIteration
  extends Pick<NewIteration, "queryId" | "position" | "thinking" | "response" | "traces" | "metadata"> {
  readonly iterationId: string;
  readonly status: QueryStatus | "running";
  readonly error: string | null;
  /** Empty while the iteration runs, and if it was interrupted before its end was stored. */
  readonly blocks: readonly StoredBlock[];
  /** What the user sent while the query ran, and the call of this iteration showed. */
  readonly steered: readonly string[];
  readonly createdAt: number;
}

/** Iterations and their blocks. */
export interface IterationStore {
  /** Stores one row with status running, the reply and the blocks. Returns its id. */
  beginIteration(iteration: NewIteration): Promise<string>;
  /** Stores blocks, variables, edges, system variables and totals in one transaction. An iteration ends once: a second
   * call throws. */
  endIteration(iterationId: string, end: IterationEnd): Promise<void>;
  /** Records a model call that returned no reply: one row with status error, in one transaction. */
  failIteration(
    iteration: Omit<NewIteration, "response" | "blocks">,
    end: Omit<IterationEnd, "blocks" | "status" | "empty"> & { readonly error: string },
  ): Promise<string>;
  iterations(queryId: string, range?: IterationRange): Promise<readonly StoredIteration[]>;
  /** The messages that were sent for the iteration in this row (0-based); null if there is none. */
  sentMessages(queryId: string, position: number): Promise<readonly SentMessage[] | null>;
}
