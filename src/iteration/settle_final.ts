import { clip } from "../domain/kit/text.ts";
import { refuseFinal, refuseForBlocks, settleRefusal } from "../prompt/refused_answer.ts";
import type { ReplyFinal } from "../prompt/reply/reply.ts";
import type { AnswerSchema, Judged } from "../prompt/schema/answer_schema.ts";
import type { AcceptedFinal, Executed, IterationFrame, OfferedAnswer } from "./iteration.ts";

const RENDER_MS = 3_000;
const MAX_VALUE_BYTES = 64 << 20;

export type Settled =
  | { readonly kind: "accepted"; readonly final: AcceptedFinal }
  | {
    readonly kind: "refused";
    readonly reason: string;
    /** The text of an answer that was refused twice for the same reason and that nothing supports; else null. */
    readonly unsupported: string | null;
  };

interface Candidate {
  readonly text: string;
  readonly from: "variable" | "template" | "literal" | "value";
  readonly answerType: AcceptedFinal["answerType"];
  readonly confidence: AcceptedFinal["confidence"];
  /** Blocks whose failure counts against the answer. */
  readonly counted: Executed["entries"];
  readonly problem: string | null;
  /** The result of checking it against the caller's schema; null without a schema. */
  readonly judged: Judged | null;
}

/** Resolves and judges the final of a reply. An answer that a block offered takes precedence over the reply's own. Null
 * if there is neither. */
export async function settleFinal(
  frame: IterationFrame,
  { offered, final, executed, refusedBefore, supported }: {
    readonly offered: OfferedAnswer | null;
    readonly final: ReplyFinal | null;
    readonly executed: Executed;
    readonly refusedBefore: string | null;
    /** Whether an earlier block of the query succeeded. */
    readonly supported: boolean;
  },
): Promise<Settled | null> {
  const candidate = offered
    ? fromOffer(frame, { offered, executed })
    : final
    ? await fromReply(frame, { final, executed })
    : null;
  if (!candidate) return null;
  const { text, judged, counted, problem } = candidate;
  // Repetition never lets an answer through that the caller could not use.
  if (judged && !judged.ok) {
    return { kind: "refused", reason: refuseForBlocks(counted) ?? problem ?? judged.reason, unsupported: null };
  }
  const reason = reasonAgainst(candidate);
  const { answerType, confidence } = candidate;
  const answer = judged
    ? { answer: judged.text, answerType: "text" as const, value: judged.value }
    : { answer: text, answerType };
  if (reason === null) return { kind: "accepted", final: { ...answer, confidence, notes: [] } };
  const verdict = settleRefusal({ reason, previous: refusedBefore });
  if (!verdict.letThrough || answer.answer.trim() === "") return { kind: "refused", reason, unsupported: null };
  const failed = executed.entries.length > 0 && executed.entries.every(({ result }) => !result.ok);
  if (problem !== null || candidate.from === "literal" && failed && !supported) {
    return { kind: "refused", reason, unsupported: text };
  }
  return { kind: "accepted", final: { ...answer, confidence: "low", notes: [verdict.note] } };
}

/** If there is a schema, it decides whether the answer is complete. */
function reasonAgainst({ problem, judged, text, from, counted }: Candidate): string | null {
  if (judged) return refuseForBlocks(counted);
  return problem ?? refuseFinal({ answer: text, resolved: from !== "literal", entries: counted });
}

function fromOffer(
  frame: IterationFrame,
  { offered, executed }: { readonly offered: OfferedAnswer; readonly executed: Executed },
): Candidate {
  const { text, type, confidence, block, value } = offered;
  return {
    text,
    from: "value",
    answerType: type,
    confidence,
    // Failures after the offer do not undo it.
    counted: executed.entries.slice(0, block),
    problem: null,
    judged: frame.extras.answerSchema?.judge({ value }) ?? null,
  };
}

async function fromReply(
  frame: IterationFrame,
  { final, executed }: { readonly final: ReplyFinal; readonly executed: Executed },
): Promise<Candidate> {
  const { answerType, confidence } = final;
  const base = { answerType, confidence, counted: executed.entries };
  const { answerSchema } = frame.extras;
  const judged = answerSchema ? await judgeNamed(frame, { name: final.answer.trim(), answerSchema }) : null;
  if (judged) return { ...base, text: final.answer, from: "variable", problem: null, judged };
  const rendered = await frame.environment.render(final.answer, { deadlineMs: RENDER_MS });
  const text = rendered.ok ? rendered.text : final.answer;
  return {
    ...base,
    text,
    from: rendered.ok ? rendered.from : "literal",
    problem: rendered.ok ? null : clip(rendered.reason, 1000),
    judged: answerSchema?.judge({ text }) ?? null,
  };
}

/** The data of a variable whose name is the whole answer: a schema checks its value, not the text that a reader would
 * get. Null if there is no such variable. */
async function judgeNamed(
  { environment }: IterationFrame,
  { name, answerSchema }: { readonly name: string; readonly answerSchema: AnswerSchema },
): Promise<Judged | null> {
  if (environment.index.get(name) === undefined) return null;
  let value: unknown;
  try {
    value = await environment.readVariable(name, { maxBytes: MAX_VALUE_BYTES });
  } catch (error) {
    return {
      ok: false,
      reason: `The variable ${name} cannot be read: ${error instanceof Error ? error.message : error}`,
    };
  }
  return answerSchema.judge({ value });
}
