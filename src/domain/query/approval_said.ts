import { oneLine } from "../text/clip.ts";
import { visibleText } from "../text/visible_text.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "./approval.ts";
import { approvalChoices } from "./approval_choices.ts";

/** What was decided, for the end of the question: "yes, this time", "no: not today". */
export function approvalSaid(
  question: Pick<ApprovalQuestion, "scope" | "lasting">,
  { decision, reason }: ApprovalAnswer,
): string {
  const text = approvalChoices(question).find((choice) => choice.decision === decision)?.text ?? decision;
  return reason === "" ? text : `${text}: ${oneLine(visibleText(reason), 300)}`;
}
