import type { z } from "zod";
import type { Frozen } from "../reports/frozen.ts";
import type { KeptRuleSchema } from "./query_schemas.ts";

/** What a call asks the user to allow, because its grant does not cover it. */
export interface ApprovalRequest {
  /** What would be done, as a phrase after "Allow Vis to": "run npm ci with network". */
  readonly what: string;
  /** Why it has to be asked; "" if `what` says enough. */
  readonly why: string;
  /** What a lasting answer allows, as a phrase: "network for commands". */
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

/** "conversation" and "workspace" are kept as rules: requests of the same extension and scope are not asked again. */
export const DECISIONS = ["once", "conversation", "workspace", "no"] as const;
export type Decision = typeof DECISIONS[number];

export interface ApprovalAnswer {
  readonly decision: Decision;
  /** Why not, in the user's words; "" if nothing was said. */
  readonly reason: string;
}

/** Asks the user. Rejects when the signal aborts; if it rejects for another reason, nothing is allowed. */
export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** What becomes of a request. */
export interface Approval {
  readonly allowed: boolean;
  /** Why not, for the model; "" if it is allowed. */
  readonly reason: string;
}

/** A rule with the id that commands use, and when it was made. */
export type KeptRule = Frozen<z.infer<typeof KeptRuleSchema>>;
export type ApprovalRule = Omit<KeptRule, "id" | "at">;

/** Administration of lasting answers. */
export interface ApprovalAdmin {
  /** Of this workspace, or of every one; oldest first. */
  list(options: { readonly all: boolean }): Promise<readonly KeptRule[]>;
  /** By its whole id; nothing happens if there is none. */
  remove(id: string): Promise<void>;
}

/** Lasting answers of the user. */
export interface ApprovalRules {
  has(rule: ApprovalRule): Promise<boolean>;
  add(rule: ApprovalRule): Promise<void>;
}
