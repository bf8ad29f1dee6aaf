import { clip } from "../domain/clip.ts";
import { refuseFinal, settleRefusal } from "../prompt/final_rules.ts";
import type { ReplyFinal } from "../prompt/reply.ts";
import type { Executed } from "./execute_blocks.ts";
import type { AcceptedFinal, IterationFrame, OfferedAnswer } from "./iteration.ts";

const RENDER_MS = 3_000;

export type Settled =
  | { readonly kind: "accepted"; readonly final: AcceptedFinal }
  | { readonly kind: "refused"; readonly reason: string };

interface Candidate {
  readonly text: string;
  readonly from: "variable" | "template" | "literal" | "value";
  readonly answerType: AcceptedFinal["answerType"];
  readonly confidence: AcceptedFinal["confidence"];
  /** Blocks whose failure speaks against it. */
  readonly counted: Executed["entries"];
  readonly problem: string | null;
}

/** Resolves and judges the final of a reply: an answer that a block offered comes first, then the reply's own. Null
 * where there is neither. */
export async function settleFinal(
  frame: IterationFrame,
  { offered, final, executed, refusedBefore }: {
    readonly offered: OfferedAnswer | null;
    readonly final: ReplyFinal | null;
    readonly executed: Executed;
    readonly refusedBefore: string | null;
  },
): Promise<Settled | null> {
  const candidate = offered ? fromOffer(offered, executed) : final ? await fromReply(frame, { final, executed }) : null;
  if (!candidate) return null;
  const forgot = frame.environment.forgottenNow.size > 0;
  const { text, from, counted } = candidate;
  const reason = candidate.problem ?? refuseFinal({
    answer: text,
    resolved: from !== "literal",
    entries: counted,
    forgot,
  });
  const { answerType, confidence } = candidate;
  if (reason === null) return { kind: "accepted", final: { answer: text, answerType, confidence, notes: [] } };
  const verdict = settleRefusal({ reason, previous: refusedBefore });
  if (!verdict.letThrough || text.trim() === "") return { kind: "refused", reason };
  const notes = [verdict.note];
  return { kind: "accepted", final: { answer: text, answerType, confidence: "low", notes } };
}

function fromOffer(offered: OfferedAnswer, executed: Executed): Candidate {
  const { text, type, confidence, block } = offered;
  // What fails after the offer does not undo it.
  return {
    text,
    from: "value",
    answerType: type,
    confidence,
    counted: executed.entries.slice(0, block),
    problem: null,
  };
}

async function fromReply(
  frame: IterationFrame,
  { final, executed }: { readonly final: ReplyFinal; readonly executed: Executed },
): Promise<Candidate> {
  const { answerType, confidence } = final;
  const base = { answerType, confidence, counted: executed.entries };
  const rendered = await frame.environment.render(final.answer, { deadlineMs: RENDER_MS });
  if (rendered.ok) return { ...base, text: rendered.text, from: rendered.from, problem: null };
  return { ...base, text: final.answer, from: "literal", problem: clip(rendered.reason, 1000) };
}
