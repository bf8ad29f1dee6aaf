import { clip, oneLine } from "../domain/kit/text.ts";
import type { AnswerSchema, Judged } from "../prompt/answer_schema.ts";
import type { JournalEntry } from "../prompt/context.ts";
import type { ReplyFinal } from "../prompt/reply/reply.ts";
import { failedCommands } from "./claims.ts";
import type { AcceptedFinal, Doubt, Executed, IterationFrame, OfferedAnswer } from "./iteration.ts";

const RENDER_MS = 3_000;
const MAX_VALUE_BYTES = 64 << 20;

export type Settled =
  | { readonly kind: "accepted"; readonly final: AcceptedFinal }
  | {
    readonly kind: "refused";
    readonly reason: string;
    /** The text of an answer that was refused twice for the same reason and has no support; else null. */
    readonly unsupported: string | null;
    /** The doubt for which an answer is refused once in a query, if there is one. */
    readonly doubt?: Doubt;
  };

interface Candidate {
  readonly text: string;
  /** The part of it that the model wrote as text; null for a value. */
  readonly words: string | null;
  readonly from: "variable" | "template" | "literal" | "value";
  readonly answerType: AcceptedFinal["answerType"];
  readonly confidence: AcceptedFinal["confidence"];
  /** The blocks whose failure counts against the answer. */
  readonly counted: Executed["entries"];
  readonly problem: string | null;
  /** The result of checking it against the caller's schema; null without a schema. */
  readonly judged: Judged | null;
}

/** Resolves and judges the final of a reply. An answer that a block offered takes precedence over the reply's own.
 * Returns null if there is neither. */
export async function settleFinal(
  frame: IterationFrame,
  { offered, final, executed, refusedBefore, supported, doubted, unsupportedClaim }: {
    readonly offered: OfferedAnswer | null;
    readonly final: ReplyFinal | null;
    readonly executed: Executed;
    readonly refusedBefore: string | null;
    /** Whether an earlier block of the query succeeded. */
    readonly supported: boolean;
    /** The claims that the query doubted before. */
    readonly doubted: readonly Doubt[];
    /** Returns a claim in a text of the model without support by the conversation's work; null if there is none. */
    readonly unsupportedClaim: (text: string) => string | null;
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
  if (reason === null) {
    const doubt = doubtOf(candidate, executed) ?? doubtClaim(candidate, unsupportedClaim);
    if (doubt && !doubted.includes(doubt.doubt)) return { kind: "refused", unsupported: null, ...doubt };
    return { kind: "accepted", final: { ...answer, confidence, notes: [] } };
  }
  const verdict = settleRefusal({ reason, previous: refusedBefore });
  if (!verdict.letThrough || answer.answer.trim() === "") return { kind: "refused", reason, unsupported: null };
  const failed = executed.entries.length > 0 && executed.entries.every(({ result }) => !result.ok);
  if (problem !== null || candidate.from === "literal" && failed && !supported) {
    return { kind: "refused", reason, unsupported: text };
  }
  return { kind: "accepted", final: { ...answer, confidence: "low", notes: [verdict.note] } };
}

/** Returns why an acceptable answer is refused the first time: the model cannot have seen the facts that it is about. */
function doubtOf(
  { from }: Candidate,
  { entries }: Executed,
): { readonly doubt: Doubt; readonly reason: string } | null {
  const failed = from === "literal" ? failedCommands(entries.flatMap(({ result }) => result.calls)) : [];
  if (failed.length === 0) return null;
  const shown = failed.slice(0, MAX_FAILURES).map((how) => oneLine(how, FAILURE_CHARS)).join(". ");
  return { doubt: "output", reason: `${shown}; you have not seen ${failed.length > 1 ? "their" : "its"} output` };
}

/** Returns why an answer is refused that claims work the request did not do. Only the model's own words can claim
 * work. */
function doubtClaim(
  { words, judged }: Candidate,
  unsupportedClaim: (text: string) => string | null,
): { readonly doubt: Doubt; readonly reason: string } | null {
  const claim = judged || words === null ? null : unsupportedClaim(words);
  if (claim === null) return null;
  const reason = `So far no file was changed and no command ran, but the answer says: "${
    oneLine(claim, FAILURE_CHARS)
  }". Do it now, or say what is true`;
  return { doubt: "claim", reason };
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
    words: null,
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
  if (judged) return { ...base, text: final.answer, words: null, from: "variable", problem: null, judged };
  const rendered = await frame.environment.render(final.answer, { deadlineMs: RENDER_MS });
  const text = rendered.ok ? rendered.text : final.answer;
  return {
    ...base,
    text,
    words: rendered.ok && rendered.from === "variable" ? null : final.answer.replace(/\{\{[^{}]*\}\}/g, "…"),
    from: rendered.ok ? rendered.from : "literal",
    problem: rendered.ok ? null : clip(rendered.reason, 1000),
    judged: answerSchema?.judge({ text }) ?? null,
  };
}

/** Returns the data of a variable whose name is the whole answer: a schema checks its value, not its text for a reader.
 * Returns null if there is no such variable. */
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

/** Words that fill the answer's place without being one, in the languages that models slip into. */
const PLACEHOLDERS = new Set([
  ..."done ok okay result results output answer final ready complete completed finished success listing listed todo"
    .split(" "),
  ..."placeholder null undefined nan wynik gotowe zrobione wypisane fertig erledigt listo hecho terminado".split(" "),
  ..."fini terminé fait pronto feito fatto klaar готово 完成 完了".split(" "),
  ...["see above", "as above", "the answer", "the result", "the results", "your answer here", "answer here"],
  ...["task completed", "task complete", "all done", "[object object]", "object object"],
]);
const MAX_FAILURES = 5, FAILURE_CHARS = 200;

/** Returns why an answer must not end the query yet, or null. `resolved` is true if it came from a variable, a template
 * or a block; `entries` are the blocks whose failure counts against it. */
export function refuseFinal(
  { answer, resolved, entries }: {
    readonly answer: string;
    readonly resolved: boolean;
    readonly entries: readonly JournalEntry[];
  },
): string | null {
  const blocks = refuseForBlocks(entries);
  if (blocks !== null) return blocks;
  if (answer.trim() === "") {
    return resolved
      ? "The answer is empty: the variable or template it came from has no text"
      : "The answer is empty: put the content into it, or the name of the variable that holds it";
  }
  if (!resolved && PLACEHOLDERS.has(bare(answer))) {
    return `The answer "${
      oneLine(answer, 40)
    }" is a placeholder: put the content into it, or the name of the variable that holds it`;
  }
  return null;
}

/** Returns why an answer must not be accepted with the blocks of its reply, or null: one of them failed. */
function refuseForBlocks(entries: readonly JournalEntry[]): string | null {
  const failed = entries.flatMap(({ result }, at) =>
    result.ok ? [] : [`Block ${at + 1} failed: ${oneLine(whyOf(result), FAILURE_CHARS)}`]
  );
  if (failed.length === 0) return null;
  const more = failed.length > MAX_FAILURES ? `. ${failed.length - MAX_FAILURES} more failed` : "";
  return `${failed.slice(0, MAX_FAILURES).join(". ")}${more}. Fix what failed or leave it out, then finish`;
}

/** Returns the consequence of a refusal. If the same one occurs twice in a row, the answer is let through, so that no
 * rule repeats forever. Texts that differ only in numbers count as the same. */
export function settleRefusal(
  { reason, previous }: { readonly reason: string; readonly previous: string | null },
): { readonly letThrough: false } | { readonly letThrough: true; readonly confidence: "low"; readonly note: string } {
  if (previous === null || kindOf(previous) !== kindOf(reason)) return { letThrough: false };
  return { letThrough: true, confidence: "low", note: `Accepted although refused twice: ${oneLine(reason, 300)}` };
}

function whyOf({ error, outcome }: JournalEntry["result"]): string {
  return error ? `${error.name}: ${error.message}` : outcome;
}

/** Normalises an answer: case, quotes, emphasis and final punctuation are ignored. */
function bare(answer: string): string {
  return answer.slice(0, 200).trim().toLowerCase().replace(/^[\s"'`*_([]+|[\s"'`*_)\].!…:]+$/g, "");
}

function kindOf(reason: string): string {
  return reason.replace(/\d+/g, "#").replace(/\s+/g, " ").trim();
}
