import type { AnswerType, Confidence } from "../../domain/query/query_result.ts";
import type { ReasoningLevel } from "../../providers/provider.ts";

/** One block that the model requested. */
export interface ReplyBlock {
  readonly expr: string;
  /** The model's estimate in milliseconds, unclamped; null if it gave none. */
  readonly timeMs: number | null;
}

export interface ReplyFinal {
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
}

/** A reply that could be read. */
export interface Reply {
  readonly thinking: string;
  readonly code: readonly ReplyBlock[];
  readonly next: {
    readonly model: "cost" | "speed" | "intelligence" | null;
    readonly reasoning: ReasoningLevel | null;
  };
  readonly final: ReplyFinal | null;
  /** Descriptions of the repairs that were needed to read it; empty for a clean reply. */
  readonly repairs: readonly string[];
}

/** Why a reply cannot be read: it is empty, has thinking only, imitates tool calls, is plain text, is JSON of another
 * shape, or is incomplete. */
export type ReplyFault = "empty" | "thinking" | "tools" | "text" | "json" | "cut";

/** `ok: false` contains the exact reason and the expected shape, fit for the next context. */
export type ParsedReply =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly reason: string; readonly fault: ReplyFault };
