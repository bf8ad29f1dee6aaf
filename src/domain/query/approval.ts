import { oneLine, visibleText } from "../kit/text.ts";
import type { Decision } from "./outcomes.ts";
import type { ApprovalRule, KeptRule } from "./query_schemas.ts";

export interface ApprovalRequest {
  /** The text follows "Allow Vis to", such as "run npm ci with network". */
  readonly what: string;
  /** This is the exact text of the action, such as a command line or an address. Most channels show it on its own line. */
  readonly exact?: string | undefined;
  /** This unified diff is the planned change of files, which channels show like other diffs. */
  readonly change?: string | undefined;
  readonly why: string;
  /** A lasting approval permits this scope, such as "network for npm ci …". */
  readonly scope: string;
  readonly scopes?: readonly string[] | undefined;
  readonly lasting?: boolean | undefined;
  /** With "request", the decision `once` lasts until the request ends instead of for one call. */
  readonly once?: "request" | undefined;
  /** This command-line option allows such calls for one run, such as "--set shell.network=true". Approvals do not show
   * the option; a run that cannot ask names it. */
  readonly option?: string | undefined;
}

export interface ApprovalQuestion extends Omit<ApprovalRequest, "option"> {
  readonly id: string;
  readonly extension: string;
}

type ChoiceFacts = Pick<ApprovalQuestion, "scope" | "lasting" | "once">;

export interface ApprovalAnswer {
  readonly decision: Decision;
  readonly reason: string;
}

export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

export interface Approval {
  readonly allowed: boolean;
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
  forget(conversationId: string): Promise<void>;
}

export interface ApprovalChoice {
  readonly decision: Decision;
  readonly key: string;
  readonly short: string;
  readonly text: string;
}

/** When the reader reaches the end of a question with more than this number of characters, the beginning may be out
 * of sight. */
const IN_SIGHT = 400;
const BEGINNING = 200;
/** Lines of code can begin with blanks, so a change may have more blanks in a row than a paragraph. */
const LONG_INDENT = /[\p{Zs}\t\u2800]{40,}/gu;
const LONG_BLANK = /[\p{Zs}\t\u2800]{4,}/gu;

type Action = Pick<ApprovalQuestion, "what" | "exact" | "change">;

/** Text from blocks cannot move the cursor, hide characters, or imitate another question on its own line. */
export function approvalTitle({ what }: Action): string {
  return `Allow Vis to ${paragraph(what)}?`;
}

export function approvalExact({ exact = "" }: Action): string {
  return paragraph(exact);
}

/** Channels show the lines in a frame, or behind a bar, so that no line looks like another question. */
export function approvalChange({ change = "" }: Action): string {
  return visibleText(change).replace(LONG_INDENT, blanks);
}

/** After a command or an address, a question mark would look like a part of it. */
export function approvalLine(question: Action): string {
  return question.exact === undefined ? approvalTitle(question) : `Allow Vis to ${actionText(question)}`;
}

function actionText({ what, exact }: Action): string {
  return paragraph(exact === undefined ? what : `${what}: ${exact}`);
}

export function approvalWhy({ why }: Pick<ApprovalQuestion, "why">): string {
  return paragraph(why);
}

export function approvalBeginning(question: Action): string {
  const text = actionText(question);
  const length = text.length + approvalChange(question).length;
  if (length <= IN_SIGHT) return "";
  return `This question has ${length} characters and begins with: ${text.slice(0, BEGINNING)}${
    text.length > BEGINNING ? "…" : ""
  }`;
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

/** Omits the path in parentheses at the end of a scope, unless two scopes differ only in that path. */
export function plainScopes(scopes: readonly string[]): readonly string[] {
  const plain = scopes.map((scope) => scope.replace(/ \([^()]*\)$/, ""));
  return scopes.map((scope, at) => {
    const short = plain[at] ?? scope;
    return plain.indexOf(short) === plain.lastIndexOf(short) ? short : scope;
  });
}

export function approvalScope(
  question: ChoiceFacts,
  fits: (text: string) => boolean,
): string {
  if (approvalChoices(question).every(({ text }) => fits(text))) return "";
  return `Answers for longer allow: ${paragraph(question.scope)}`;
}

function paragraph(text: string): string {
  return visibleText(text).replace(LONG_BLANK, blanks).replaceAll("\n", " ⏎ ");
}

function blanks({ length }: string): string {
  return ` [${length} blanks] `;
}

export function askedText(question: ApprovalQuestion, answer: ApprovalAnswer): string {
  const gap = question.exact === undefined ? " " : " · ";
  return `${approvalLine(question)}${gap}${approvalSaid(question, answer)}`;
}

export function approvalSaid(
  question: ChoiceFacts,
  { decision, reason }: ApprovalAnswer,
): string {
  const text = approvalChoices(question).find((choice) => choice.decision === decision)?.text ?? decision;
  return reason === "" ? text : `${text}: ${oneLine(visibleText(reason), 300)}`;
}
