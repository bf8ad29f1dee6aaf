import { abortable } from "../../../domain/kit/concurrency.ts";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChoices,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../../domain/query/approval.ts";
import type { Io } from "../../channel.ts";

/** Asks on the terminal; undefined if there is none, so that nobody is asked. */
export function terminalApproval(io: Io): Approve | undefined {
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) return undefined;
  return async (question, signal) =>
    answerOf(await abortable(io.askLine(questionText(question), { typedNow: true }), signal), question);
}

function questionText(question: ApprovalQuestion): string {
  const more = [approvalWhy(question), approvalBeginning(question)];
  const choices = approvalChoices(question).map(({ key, text }) => `  ${key}  ${text}`);
  return [
    approvalTitle(question),
    ...more.filter((text) => text !== "").map((text) => `  ${text}`),
    ...choices,
    "Answer with a letter, or say why not: ",
  ].join("\n");
}

/** Anything that is not one of the choices is a refusal with its reason, and so is an empty line. */
export function answerOf(line: string, question: Pick<ApprovalQuestion, "scope" | "lasting">): ApprovalAnswer {
  const typed = line.trim().toLowerCase();
  const word = { yes: "y", always: "a", conversation: "c", no: "n" }[typed] ?? typed;
  const chosen = approvalChoices(question).find(({ key }) => key === word);
  if (chosen) return { decision: chosen.decision, reason: "" };
  return { decision: "no", reason: line.trim() };
}
