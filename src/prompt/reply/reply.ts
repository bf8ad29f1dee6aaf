import type { AnswerType, Confidence } from "../../domain/query/query_result.ts";
import type { ReasoningLevel } from "../../providers/provider.ts";

/** One block as the model asked for it. */
export interface ReplyBlock {
  readonly expr: string;
  /** The model's estimate in milliseconds, unclamped; null where it gave none. */
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
  /** What had to be done to read it, in words; empty for a clean reply. */
  readonly repairs: readonly string[];
}

/** What is wrong with a reply that cannot be read: nothing at all, thinking alone, imitated tool calls, plain text, JSON of
 * another shape, or a part only. */
export type ReplyFault = "empty" | "thinking" | "tools" | "text" | "json" | "cut";

/** `ok: false` carries the exact reason and the expected shape, fit for the next context. */
export type ParsedReply =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly reason: string; readonly fault: ReplyFault };
