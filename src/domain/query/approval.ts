import { oneLine, visibleText } from "../kit/text.ts";
import type { Decision } from "./outcomes.ts";
import type { ApprovalRule, KeptRule } from "./query_schemas.ts";

export interface ApprovalRequest {
  /** The phrase after "Allow Vis to", such as "run npm ci with network". */
  readonly what: string;
  /** The reason why Vis asks; "" if `what` is sufficient. */
  readonly why: string;
  /** The permission of a lasting approval, such as "network for commands". */
  readonly scope: string;
  /** The names of the rules that a lasting approval keeps. If absent, `scope` is the only name. If each name has a
   * rule, Vis allows the call without asking; otherwise the user decides about the missing rules. */
  readonly scopes?: readonly string[] | undefined;
  /** False if the user can allow the call only once; true if absent. */
  readonly lasting?: boolean | undefined;
  /** "request" if a yes for once allows the action until the request ends; otherwise the yes is for the call. */
  readonly once?: "request" | undefined;
}

export interface ApprovalQuestion extends ApprovalRequest {
  readonly id: string;
  readonly extension: string;
}

type ChoiceFacts = Pick<ApprovalQuestion, "scope" | "lasting" | "once">;

export interface ApprovalAnswer {
  readonly decision: Decision;
  /** Empty if the user gave no reason. */
  readonly reason: string;
}

/** Asks the user. Rejects when the signal aborts. */
export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface Approval {
  readonly allowed: boolean;
  /** Why the call was refused, for the model; "" if the call is allowed. */
  readonly reason: string;
  readonly byUser?: boolean;
}

export interface ApprovalAdmin {
  list(options: { readonly all: boolean }): Promise<readonly KeptRule[]>;
  remove(id: string): Promise<void>;
}

export interface ApprovalRules {
  has(rule: ApprovalRule): Promise<boolean>;
  add(rule: ApprovalRule): Promise<void>;
}

export interface ApprovalChoice {
  readonly decision: Decision;
  readonly key: string;
  readonly short: string;
  readonly text: string;
}

/** In a longer question, the beginning may be out of sight when the reader reaches the end. */
const IN_SIGHT = 400;
const BEGINNING = 200;
const LONG_BLANK = /[\p{Zs}\t\u2800]{4,}/gu;

/** Returns the question as one paragraph, as every channel shows it. Text from blocks cannot move the cursor, hide
 * characters, or imitate another question on its own line. */
export function approvalTitle({ what }: Pick<ApprovalQuestion, "what">): string {
  return `Allow Vis to ${paragraph(what)}?`;
}

export function approvalWhy({ why }: Pick<ApprovalQuestion, "why">): string {
  return paragraph(why);
}

/** Returns the beginning of a long question, for a channel that shows its end next to the choices. Returns "" for a
 * short question. */
export function approvalBeginning({ what }: Pick<ApprovalQuestion, "what">): string {
  const text = paragraph(what);
  if (text.length <= IN_SIGHT) return "";
  return `This question has ${text.length} characters and begins with: ${text.slice(0, BEGINNING)}…`;
}

export function approvalChoices(
  { scope: given, lasting = true, once }: ChoiceFacts,
): readonly ApprovalChoice[] {
  const scope = paragraph(given);
  const choices: readonly ApprovalChoice[] = [
    { decision: "once", key: "y", short: "Yes", text: `yes, for this ${once ?? "call"} only` },
    { decision: "conversation", key: "c", short: "Conversation", text: `yes, and ${scope} in this conversation` },
    { decision: "workspace", key: "a", short: "Always", text: `yes, and ${scope} in this workspace from now on` },
    { decision: "no", key: "n", short: "No", text: "no" },
  ];
  return lasting ? choices : choices.filter(({ decision }) => decision === "once" || decision === "no");
}

/** Returns the names of commands without the path of their program, unless two names differ only in that path. */
export function plainScopes(scopes: readonly string[]): readonly string[] {
  const plain = scopes.map((scope) => scope.replace(/ \([^()]*\)$/, ""));
  return scopes.map((scope, at) => {
    const short = plain[at] ?? scope;
    return plain.indexOf(short) === plain.lastIndexOf(short) ? short : scope;
  });
}

/** Returns the scope, which long choices would repeat, for a channel in which each choice has one line. Returns "" if
 * `fits` holds for every choice. */
export function approvalScope(
  question: ChoiceFacts,
  fits: (text: string) => boolean,
): string {
  if (approvalChoices(question).every(({ text }) => fits(text))) return "";
  return `Answers for longer allow: ${paragraph(question.scope)}`;
}

function paragraph(text: string): string {
  return visibleText(text).replace(LONG_BLANK, ({ length }) => ` [${length} blanks] `).replaceAll("\n", " ⏎ ");
}

export function askedText(question: ApprovalQuestion, answer: ApprovalAnswer): string {
  return `${approvalTitle(question)} ${approvalSaid(question, answer)}`;
}

export function approvalSaid(
  question: ChoiceFacts,
  { decision, reason }: ApprovalAnswer,
): string {
  const text = approvalChoices(question).find((choice) => choice.decision === decision)?.text ?? decision;
  return reason === "" ? text : `${text}: ${oneLine(visibleText(reason), 300)}`;
}
