import { messageOf } from "../domain/errors.ts";
import { clip, oneLine, someOf } from "../domain/kit/text.ts";
import type { BlockCall } from "../domain/query/query_schemas.ts";
import type { AnswerSchema, Judged } from "../prompt/answer_schema.ts";
import type { JournalEntry } from "../prompt/context_message.ts";
import type { ReplyFinal } from "../prompt/reply/reply.ts";
import type { AcceptedFinal, Doubt, Executed, IterationFrame, IterationInput, OfferedAnswer } from "./iteration.ts";

const RENDER_MS = 3_000;
const MAX_VALUE_BYTES = 64 << 20;

export type Settled =
  | { readonly kind: "accepted"; readonly final: AcceptedFinal }
  | {
    readonly kind: "refused";
    readonly reason: string;
    /** The value is the answer that Vis has refused at least twice in a row for the same reason, or null. */
    readonly unsupported: string | null;
    readonly doubt?: Doubt;
  };

interface Candidate {
  readonly text: string;
  readonly words: string | null;
  readonly from: "variable" | "template" | "literal" | "value";
  readonly answerType: AcceptedFinal["answerType"];
  readonly confidence: AcceptedFinal["confidence"];
  readonly counted: Executed["entries"];
  readonly problem: string | null;
  readonly judged: Judged | null;
}

export async function settleFinal(
  frame: IterationFrame,
  { offered, final, executed, refusedBefore, supported, doubted, unsupportedClaim, missingFiles, worked }:
    & { readonly offered: OfferedAnswer | null; readonly final: ReplyFinal | null; readonly executed: Executed }
    & Pick<IterationInput, "refusedBefore" | "supported" | "doubted" | "unsupportedClaim" | "missingFiles" | "worked">,
): Promise<Settled | null> {
  const candidate = offered
    ? fromOffer(frame, { offered, executed })
    : final
    ? await fromReply(frame, { final, executed })
    : null;
  if (!candidate) return null;
  const { text, judged, counted, problem } = candidate;
  // A caller cannot use an answer that violates the schema, so Vis refuses even a repeated answer.
  if (judged && !judged.ok) {
    const reason = refuseForBlocks(counted)?.reason ?? problem ?? judged.reason;
    return { kind: "refused", reason, unsupported: null };
  }
  const refusal = refusalOf(candidate, { request: frame.request, worked: worked() });
  const { answerType, confidence } = candidate;
  const answer = judged
    ? { answer: judged.text, answerType: "text" as const, value: judged.value }
    : { answer: text, answerType };
  if (refusal === null) {
    const missing = await missingFiles({ text, ...(judged ? { value: judged.value } : {}) });
    const doubts = [doubtOf(candidate, executed), doubtClaim(candidate, unsupportedClaim), doubtFiles(missing)];
    const doubt = doubts.find((one) => one !== null && !doubted.includes(one.doubt));
    if (doubt) return { kind: "refused", unsupported: null, ...doubt };
    const notes = missing.length === 0 ? [] : [`The workspace has no file ${someOf(missing)}, which a finding names`];
    return { kind: "accepted", final: { ...answer, confidence, notes } };
  }
  const { reason } = refusal;
  const verdict = settleRefusal(refusal, refusedBefore);
  if (!verdict.letThrough || answer.answer.trim() === "") return { kind: "refused", reason, unsupported: null };
  const failed = executed.entries.length > 0 && executed.entries.every(({ result }) => !result.ok);
  if (problem !== null || candidate.from === "literal" && failed && !supported) {
    return { kind: "refused", reason, unsupported: text };
  }
  return { kind: "accepted", final: { ...answer, confidence: "low", notes: [verdict.note] } };
}

function doubtOf(
  { from }: Candidate,
  { entries }: Executed,
): { readonly doubt: Doubt; readonly reason: string } | null {
  const failed = from === "literal" ? failedCommands(entries.flatMap(({ result }) => result.calls)) : [];
  if (failed.length === 0) return null;
  const shown = failed.slice(0, MAX_FAILURES).map((how) => oneLine(how, FAILURE_CHARS)).join(". ");
  return { doubt: "output", reason: `${shown}; you have not seen ${failed.length > 1 ? "their" : "its"} output` };
}

function failedCommands(calls: readonly BlockCall[]): readonly string[] {
  const failed = new Map<string, string>();
  for (const { ok, exitCode, outcome = "", action } of calls) {
    if (exitCode === undefined) continue;
    const command = action?.subject || "a command";
    failed.delete(command);
    if (!ok) {
      failed.set(command, exitCode ? `${command} ended with code ${exitCode}` : `${command}: ${outcome || "failed"}`);
    }
  }
  return [...failed.values()];
}

/** Only words that the model wrote itself can claim work. */
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

function doubtFiles(missing: readonly string[]): { readonly doubt: Doubt; readonly reason: string } | null {
  if (missing.length === 0) return null;
  const reason = `The workspace has no file ${someOf(missing)}, which a finding names; correct the path, or drop the ` +
    "finding; repeat it only for a file of another commit";
  return { doubt: "files", reason };
}

/** With a schema, the text of the answer does not count, but failed blocks do. */
function refusalOf(
  { problem, judged, text, from, counted }: Candidate,
  of: { readonly request: string; readonly worked: boolean },
): Refusal | null {
  if (judged) return refuseForBlocks(counted);
  if (problem !== null) return { reason: problem, fact: problem };
  return refuseFinal({ answer: text, resolved: from !== "literal", entries: counted, ...of });
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
  const rendered = await frame.environment.render(final.answer, { deadlineMs: RENDER_MS, json: answerSchema !== null });
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

async function judgeNamed(
  { environment }: IterationFrame,
  { name, answerSchema }: { readonly name: string; readonly answerSchema: AnswerSchema },
): Promise<Judged | null> {
  if (environment.index.get(name) === undefined) return null;
  let value: unknown;
  try {
    value = await environment.readVariable(name, { maxBytes: MAX_VALUE_BYTES });
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
  return answerSchema.judge({ value });
}

const REPORTS = new Set([
  ..."done ok okay ready complete completed finished success gotowe zrobione fertig".split(" "),
  ..."erledigt listo hecho terminado fini terminé fait pronto feito fatto klaar готово 完成 完了".split(" "),
  ...["task completed", "task complete", "all done"],
]);
const PLACEHOLDERS = new Set([
  ..."result results output answer final listing listed wynik wypisane todo placeholder null undefined nan".split(" "),
  ...["see above", "as above", "the answer", "the result", "the results", "your answer here", "answer here"],
  ...["[object object]", "object object"],
]);
const MAX_FAILURES = 5, FAILURE_CHARS = 200;

/** The model gets `reason`; a note for the user has `fact`. */
interface Refusal {
  readonly reason: string;
  readonly fact: string;
}

/** `resolved` means that a variable, a template or a block gave the answer. */
export function refuseFinal(
  { answer, resolved, entries, request = "", worked = false }: {
    readonly answer: string;
    readonly resolved: boolean;
    readonly entries: readonly JournalEntry[];
    readonly request?: string;
    readonly worked?: boolean;
  },
): Refusal | null {
  const blocks = refuseForBlocks(entries);
  if (blocks !== null) return blocks;
  if (answer.trim() === "") {
    const advice = resolved
      ? "its variable, template or value has no text"
      : "put the content into it, or the name of the variable that holds it";
    return { reason: `The answer is empty; ${advice}`, fact: "it is empty" };
  }
  const word = bare(answer), isReport = REPORTS.has(word);
  if (!resolved && (isReport ? !worked : PLACEHOLDERS.has(word)) && !asksForWord(request, { word, isReport })) {
    const fact = `The answer "${oneLine(answer, 40)}" is a placeholder`;
    return {
      reason: `${fact}; put the content into it, or the name of the variable that holds it`,
      fact: `"${oneLine(answer, 40)}" may stand for an answer that is missing`,
    };
  }
  return null;
}

const SAYING =
  "answer|reply|respond|say|antwort\\p{L}*|sag\\p{L}*|répon\\p{L}*|dis|dites|respond\\p{L}*|di|rispond\\p{L}*|" +
  "diga|antwoord\\p{L}*|zeg|odpowiedz\\p{L}*|ответь\\p{L}*|скажи\\p{L}*";
const WRITING =
  "print|return|write|output|schreib\\p{L}*|écri\\p{L}*|escrib\\p{L}*|scriv\\p{L}*|escrev\\p{L}*|schrijf|napisz|напиши\\p{L}*";
const EXACTLY = "with|only|just|exactly|the word|mit|nur|genau|avec|con|com|met";
const WHEN = "when|once|after|until|wenn|sobald|nachdem|quand|cuando|quando|als";

function asksForWord(
  request: string,
  { word, isReport }: { readonly word: string; readonly isReport: boolean },
): boolean {
  const text = request.slice(0, MOST_SEARCHED).toLowerCase();
  const literal = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const begin = "(?<![\\p{L}\\p{N}_])", end = "(?![\\p{L}\\p{N}_])";
  const near = `(?:(?!${begin}(?:${WHEN})${end})[^.!?\\n]){0,60}?`;
  const ways = [
    `["'\`“„«「*]\\s*${literal}[.!]?\\s*["'\`”“»」*]`,
    `${begin}(?:${SAYING}|${WRITING})${end}${near}${begin}(?:${EXACTLY})\\s+${begin}${literal}${end}`,
    ...isReport
      ? [
        `${begin}(?:${SAYING})${end}${near}${begin}${literal}${end}`,
        `${begin}(?:${WRITING})\\s+${begin}${literal}${end}`,
      ]
      : [],
  ];
  return ways.some((way) => new RegExp(way, "u").test(text));
}

const MOST_SEARCHED = 10_000;

function refuseForBlocks(entries: readonly JournalEntry[]): Refusal | null {
  const failed = entries.flatMap(({ result }, at) =>
    result.ok ? [] : [{ block: at + 1, why: oneLine(whyOf(result), FAILURE_CHARS) }]
  );
  if (failed.length === 0) return null;
  const more = failed.length > MAX_FAILURES ? `. ${failed.length - MAX_FAILURES} more failed` : "";
  const shown = failed.slice(0, MAX_FAILURES);
  return {
    reason: `${shown.map(({ block, why }) => `Block ${block} failed: ${why}`).join(". ")}${more}. ` +
      "Fix what failed or leave it out, then finish",
    fact: `code of its last step failed (${shown[0]?.why ?? ""})`,
  };
}

/** Lets the answer through if Vis refused the previous answer for the same reason, apart from numbers. */
export function settleRefusal(
  { reason, fact }: Refusal,
  previous: string | null,
): { readonly letThrough: false } | { readonly letThrough: true; readonly confidence: "low"; readonly note: string } {
  if (previous === null || kindOf(previous) !== kindOf(reason)) return { letThrough: false };
  return { letThrough: true, confidence: "low", note: `Vis doubts this answer: ${oneLine(fact, 300)}` };
}

function whyOf({ error, outcome }: JournalEntry["result"]): string {
  return error ? `${error.name}: ${error.message}` : outcome;
}

function bare(answer: string): string {
  return answer.slice(0, 200).trim().toLowerCase().replace(/^[\s"'`*_([]+|[\s"'`*_)\].!…:]+$/g, "");
}

function kindOf(reason: string): string {
  return reason.replace(/\d+/g, "#").replace(/\s+/g, " ").trim();
}
