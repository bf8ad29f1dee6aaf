import { newId } from "../domain/kit/id.ts";
import { messageOf } from "../domain/kit/message_of.ts";
import { Semaphore } from "../domain/kit/semaphore.ts";
import type {
  Approval,
  ApprovalAnswer,
  ApprovalQuestion,
  ApprovalRequest,
  ApprovalRule,
  ApprovalRules,
  Approve,
} from "../domain/query/approval.ts";
import type { Emitter } from "../domain/query/emitter.ts";
import type { Log } from "../logging/log.ts";
import type { QueryDeadline } from "./deadline.ts";
import type { QueryParts } from "./query_parts.ts";

/** Longest texts of a request in characters: the user has to read all of it. */
const LONGEST = { what: 4_000, why: 1_000, scope: 300 } as const;

export interface QueryApprovalsParts {
  /** Null if nobody can be asked. */
  readonly approve: Approve | null;
  /** Why nobody can be asked; only read if `approve` is null. */
  readonly nobody: string;
  readonly rules: ApprovalRules | null;
  readonly log: Log;
  readonly deadline: QueryDeadline;
}

/** Where a request comes from. */
export interface Asking {
  readonly tenant: string;
  readonly extension: string;
  readonly workspace: string;
  readonly conversationId: string;
  readonly emitter: Emitter;
  readonly signal: AbortSignal;
}

/** Requests for the user's approval in one query and everything below it. */
export class QueryApprovals {
  readonly #parts: QueryApprovalsParts;
  /** The user is asked one thing at a time. */
  readonly #turn = new Semaphore();
  /** Reasons of refusals by extension and scope: the user is not asked again in this query. */
  readonly #refused = new Map<string, string>();
  /** What was allowed for longer, in case it cannot be kept as a rule. */
  readonly #allowed = new Set<string>();

  constructor(parts: QueryApprovalsParts) {
    this.#parts = parts;
  }

  /** For a query that no other one started. */
  static of(
    { settings, approvalRules, log }: Pick<QueryParts, "settings" | "approvalRules" | "log">,
    { approve = null, deadline }: { readonly approve: Approve | null | undefined; readonly deadline: QueryDeadline },
  ): QueryApprovals {
    const isOff = settings.approvals === "never";
    const nobody = isOff ? "the setting approvals is never" : "nobody can be asked here";
    return new QueryApprovals({ approve: isOff ? null : approve, nobody, rules: approvalRules ?? null, deadline, log });
  }

  /** Asks the user, unless a rule allows it, the user has refused it in this query, or nobody can be asked. Throws
   * TypeError for a request that cannot be shown whole, and rejects when the signal aborts. */
  async request(given: ApprovalRequest, asking: Asking): Promise<Approval> {
    const request = checked(given);
    const key = JSON.stringify([asking.extension, request.scope]);
    return await this.#known(key, { request, asking }) ??
      await this.#turn.run(
        // Another call may have asked the same in the meantime.
        async () => await this.#known(key, { request, asking }) ?? await this.#ask(key, { request, asking }),
        asking.signal,
      );
  }

  async #known(
    key: string,
    { request: { scope }, asking: { tenant, extension, workspace, conversationId } }: Asked,
  ): Promise<Approval | null> {
    const rule = { tenant, extension, workspace, scope };
    const { approve, nobody, rules } = this.#parts;
    const isAllowed = this.#allowed.has(key) || await rules?.has({ ...rule, conversationId: null }) ||
      await rules?.has({ ...rule, conversationId });
    if (isAllowed) return { allowed: true, reason: "" };
    if (approve === null) return { allowed: false, reason: nobody };
    const reason = this.#refused.get(key);
    return reason === undefined ? null : { allowed: false, reason };
  }

  async #ask(key: string, { request, asking }: Asked): Promise<Approval> {
    const { tenant, extension, workspace, conversationId, emitter, signal } = asking;
    const question: ApprovalQuestion = { id: newId(), extension, ...request };
    emitter.send({ type: "approval_requested", ...question });
    const answer = await this.#answer(question, signal);
    if (signal.aborted) {
      emitter.send({ type: "approval_answered", id: question.id, decision: "no", reason: "" });
      throw signal.reason;
    }
    const { decision, reason } = answer;
    emitter.send({ type: "approval_answered", id: question.id, decision, reason });
    if (decision === "no") {
      const why = answer.fault ?? (reason === "" ? "the user said no" : `the user said no: ${reason}`);
      this.#refused.set(key, why);
      return { allowed: false, reason: why };
    }
    if (decision !== "once") {
      this.#allowed.add(key);
      const rule = { tenant, extension, workspace, scope: request.scope };
      await this.#keep({ ...rule, conversationId: decision === "workspace" ? null : conversationId });
    }
    return { allowed: true, reason: "" };
  }

  async #keep(rule: ApprovalRule): Promise<void> {
    const { rules, log } = this.#parts;
    try {
      await rules?.add(rule);
    } catch (error) {
      log.error("approval_not_kept", { ...rule, error: messageOf(error) });
    }
  }

  /** Time limits stand still meanwhile. */
  async #answer(
    question: ApprovalQuestion,
    signal: AbortSignal,
  ): Promise<ApprovalAnswer & { readonly fault?: string }> {
    const { approve, deadline, nobody } = this.#parts;
    try {
      return await deadline.held(async () => await approve?.(question, signal) ?? { decision: "no", reason: nobody });
    } catch (error) {
      return { decision: "no", reason: "", fault: `the question could not be asked: ${messageOf(error)}` };
    }
  }
}

interface Asked {
  readonly request: ApprovalRequest;
  readonly asking: Asking;
}

function checked({ what, why, scope }: ApprovalRequest): ApprovalRequest {
  const texts = { what, why, scope };
  for (const [key, text] of Object.entries(texts)) {
    if (typeof text !== "string") throw new TypeError(`Cannot ask the user: ${key} must be a text`);
    const most = LONGEST[key as keyof typeof LONGEST];
    if (text.length > most) {
      throw new TypeError(`Cannot ask the user: ${key} has ${text.length} characters, the limit is ${most}`);
    }
  }
  if (what === "" || scope === "") throw new TypeError("Cannot ask the user: what and scope must not be empty");
  return texts;
}
