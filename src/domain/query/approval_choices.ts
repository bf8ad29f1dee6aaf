import { visibleText } from "../text/visible_text.ts";
import type { ApprovalQuestion, Decision } from "./approval.ts";

export interface ApprovalChoice {
  readonly decision: Decision;
  /** What to press or type for it. */
  readonly key: string;
  /** For a button. */
  readonly short: string;
  readonly text: string;
}

/** Longer questions may be out of sight at their beginning when their end is read. */
const IN_SIGHT = 400;
const BEGINNING = 200;
/** Characters that take room and show nothing. */
const LONG_BLANK = /[\p{Zs}\t\u2800]{4,}/gu;

/** The question as every channel shows it: one paragraph. Text of blocks in it cannot move the cursor, hide anything, or
 * stand on a line of its own like another question. */
export function approvalTitle({ what }: Pick<ApprovalQuestion, "what">): string {
  return `Allow Vis to ${paragraph(what)}?`;
}

/** Why it is asked, as one paragraph; "" if nothing was said. */
export function approvalWhy({ why }: Pick<ApprovalQuestion, "why">): string {
  return paragraph(why);
}

/** For a channel that shows the end of a long question next to the choices: how the question begins; "" for others. */
export function approvalBeginning({ what }: Pick<ApprovalQuestion, "what">): string {
  const text = paragraph(what);
  if (text.length <= IN_SIGHT) return "";
  return `This question has ${text.length} characters and begins with: ${text.slice(0, BEGINNING)}…`;
}

/** The answers that the user can give; `scope` is the phrase of a lasting one. */
export function approvalChoices(
  { scope: given, lasting = true }: Pick<ApprovalQuestion, "scope" | "lasting">,
): readonly ApprovalChoice[] {
  const scope = paragraph(given);
  const choices: readonly ApprovalChoice[] = [
    { decision: "once", key: "y", short: "Yes", text: "yes, this time" },
    { decision: "conversation", key: "c", short: "Conversation", text: `yes, and ${scope} in this conversation` },
    { decision: "workspace", key: "a", short: "Always", text: `yes, and ${scope} in this workspace from now on` },
    { decision: "no", key: "n", short: "No", text: "no" },
  ];
  return lasting ? choices : choices.filter(({ decision }) => decision === "once" || decision === "no");
}

function paragraph(text: string): string {
  return visibleText(text).replace(LONG_BLANK, ({ length }) => ` [${length} blanks] `).replaceAll("\n", " ⏎ ");
}
