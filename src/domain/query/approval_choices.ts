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

/** The question as every channel shows it; text of blocks in it cannot move the cursor or hide anything. */
export function approvalTitle({ what }: Pick<ApprovalQuestion, "what">): string {
  return `Allow Vis to ${visibleText(what)}?`;
}

export function approvalChoices({ scope: given }: Pick<ApprovalQuestion, "scope">): readonly ApprovalChoice[] {
  const scope = visibleText(given);
  return [
    { decision: "once", key: "y", short: "Yes", text: "yes, this time" },
    { decision: "conversation", key: "c", short: "Conversation", text: `yes, and ${scope} in this conversation` },
    { decision: "workspace", key: "a", short: "Always", text: `yes, and ${scope} in this workspace from now on` },
    { decision: "no", key: "n", short: "No", text: "no" },
  ];
}
