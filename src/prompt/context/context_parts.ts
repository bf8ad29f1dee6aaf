import type { Config } from "../../config/schema.ts";
import type { BlockResult } from "../../domain/query/query_schemas.ts";
import type { VariableHead } from "../../persistence/store.ts";

/** One executed block as the journal shows it. */
export interface JournalEntry {
  readonly code: string;
  readonly result: BlockResult;
  /** The value as codec bytes if it is kept, for nudges of extensions. */
  readonly value?: Uint8Array<ArrayBuffer> | null;
}

/** The caps of one context message, in characters, rows or lines. See protocol.md for the defaults. */
export type ContextCaps = Readonly<Config["context"]>;

/** Everything that goes into the context message of one iteration. */
export interface ContextParts {
  /** 1-based. */
  readonly iteration: number;
  readonly budget: number;
  /** No block runs any more. */
  readonly last: boolean;
  /** Replies of the query without a result. */
  readonly failures: number;
  readonly notes: readonly string[];
  /** The handover in the first iteration of a later query, else null. */
  readonly handover:
    | {
      readonly request: string;
      readonly thinkings: readonly string[];
      readonly answer: string;
      /** The query ended without an answer that was accepted; `answer` is what its user read instead. */
      readonly unfinished?: boolean;
    }
    | null;
  /** The thinking of the newest iteration that had any; "" if none. */
  readonly thinking: string;
  /** How many iterations of the query had thinking. */
  readonly thoughts: number;
  readonly journal: readonly JournalEntry[];
  /** The 1-based iteration that the journal shows; null if there is none. */
  readonly journalIteration: number | null;
  /** Files that the query has changed, on one line; "" if none. */
  readonly changed: string;
  /** One line per earlier iteration, oldest first. */
  readonly attempts: readonly string[];
  /** The rendered body of `<var_index>`, which the caller caches by revision. */
  readonly index: string;
  /** Nudge lines, each starting with `[system_nudge]`. */
  readonly nudges: readonly string[];
  readonly caps: ContextCaps;
}

/** `code`, the block that defined the variable, is shown for variables of kind lost. */
export type IndexedVariable =
  & Pick<VariableHead, "name" | "kind" | "versions" | "scope" | "summary" | "reason">
  & Partial<Pick<VariableHead, "code">>;
