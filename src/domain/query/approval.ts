import { oneLine, visibleText } from "../kit/text.ts";
import type { Decision } from "./outcomes.ts";
import type { ApprovalRule, KeptRule } from "./query_schemas.ts";

/** A call asks the user for this because its grant does not cover it. */
export interface ApprovalRequest {
  /** This phrase follows "Allow Vis to": "run npm ci with network". */
  readonly what: string;
  /** Why it has to be asked; "" if `what` says enough. */
  readonly why: string;
  /** A lasting answer allows this, as a phrase: "network for commands". */
  readonly scope: string;
  /** The names of the rules that a lasting answer keeps; `scope` alone if absent. The request is allowed if each has a
   * rule, and the user is asked for the others. */
  readonly scopes?: readonly string[] | undefined;
  /** False if the user can only allow it once; true if absent. */
  readonly lasting?: boolean | undefined;
}

/** A request as it is shown to the user. */
export interface ApprovalQuestion extends ApprovalRequest {
  readonly id: string;
  /** Namespace of the extension that asks. */
  readonly extension: string;
}

export interface ApprovalAnswer {
  readonly decision: Decision;
  /** Why not, in the user's words; "" if nothing was said. */
  readonly reason: string;
}

/** Asks the user. Rejects when the signal aborts; if it rejects for another reason, nothing is allowed. */
export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface Approval {
  readonly allowed: boolean;
  /** Why not, for the model; "" if it is allowed. */
  readonly reason: string;
}

/** Administration of lasting answers. */
export interface ApprovalAdmin {
  /** Lists the rules of this workspace, or of all workspaces, oldest first. */
  list(options: { readonly all: boolean }): Promise<readonly KeptRule[]>;
  /** Removes the approval with this whole id; nothing happens if there is none. */
  remove(id: string): Promise<void>;
}

/** Lasting answers of the user. */
export interface ApprovalRules {
  has(rule: ApprovalRule): Promise<boolean>;
  add(rule: ApprovalRule): Promise<void>;
}

export interface ApprovalChoice {
  readonly decision: Decision;
  /** The user presses or types this key to choose the answer. */
  readonly key: string;
  /** A button shows this text. */
  readonly short: string;
  readonly text: string;
}

/** Longer questions may be out of sight at their beginning when their end is read. */
const IN_SIGHT = 400;
const BEGINNING = 200;
/** Characters that take room and show nothing. */
const LONG_BLANK = /[\p{Zs}\t\u2800]{4,}/gu;

/** The question as every channel shows it: one paragraph. Text of blocks in it cannot move the cursor, hide anything,
 * or stand on a line of its own like another question. */
export function approvalTitle({ what }: Pick<ApprovalQuestion, "what">): string {
  return `Allow Vis to ${paragraph(what)}?`;
}

/** Why it is asked, as one paragraph; "" if nothing was said. */
export function approvalWhy({ why }: Pick<ApprovalQuestion, "why">): string {
  return paragraph(why);
}

/** Returns the beginning of a long question, for a channel that shows its end next to the choices; "" for short
 * ones. */
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

/** Returns the decision for the end of the question: "yes, this time", "no: not today". */
export function approvalSaid(
  question: Pick<ApprovalQuestion, "scope" | "lasting">,
  { decision, reason }: ApprovalAnswer,
): string {
  const text = approvalChoices(question).find((choice) => choice.decision === decision)?.text ?? decision;
  return reason === "" ? text : `${text}: ${oneLine(visibleText(reason), 300)}`;
}
