import { messageOf, reasonOf } from "../domain/errors.ts";
import { Semaphore } from "../domain/kit/concurrency.ts";
import { newId } from "../domain/kit/ids.ts";
import {
  type Approval,
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApprovalRequest,
  type ApprovalRules,
  type Approve,
  askedText,
} from "../domain/query/approval.ts";
import type { Emitter } from "../domain/query/query_event.ts";
import type { ApprovalRule } from "../domain/query/query_schemas.ts";
import type { Log } from "../logging/log.ts";
import type { QueryDeadline } from "./limits.ts";
import type { QueryParts } from "./query_settings.ts";

/** The user must read the whole text of an approval, so the texts have these limits in characters. */
const LONGEST = { what: 4_000, exact: 4_000, change: 4_000, why: 1_000, scope: 300, option: 300 } as const;
const MOST_SCOPES = 20;
const REFUSALS = 3;

const NOBODY = {
  ask: "no user can answer here",
  never: "the setting approvals is never",
  locked: "Vis asks nobody in the locked profile",
} as const;

interface QueryApprovalsParts {
  readonly approve: Approve | null;
  readonly nobody: string;
  readonly rules: ApprovalRules | null;
  readonly log: Log;
  readonly deadline: QueryDeadline;
  readonly keep: (asked: string) => void;
  readonly onUnasked?: ((option: string) => void) | undefined;
}

interface Asking {
  readonly tenant: string;
  readonly extension: string;
  readonly workspace: string;
  readonly conversationId: string;
  readonly emitter: Emitter;
  readonly signal: AbortSignal;
  readonly isQuiet?: boolean;
}

export class QueryApprovals {
  readonly #parts: QueryApprovalsParts;
  readonly #turn = new Semaphore();
  /** Vis does not ask again for a refused approval. If the user gave a reason, this holds only for the same iteration,
   * because the model may then do what the user wrote. */
  readonly #refused = new Map<string, { readonly why: string; readonly iteration: number | null }>();
  /** These approvals count in this query even if Vis cannot store the rules. */
  readonly #allowed = new Set<string>();
  #refusals = 0;

  constructor(parts: QueryApprovalsParts) {
    this.#parts = parts;
  }

  get askedMs(): number {
    return this.#parts.deadline.heldMs;
  }

  static of(
    { settings, approvalRules, log }: Pick<QueryParts, "settings" | "approvalRules" | "log">,
    { approve = null, deadline, keep, onUnasked }: Pick<QueryApprovalsParts, "deadline" | "keep" | "onUnasked"> & {
      readonly approve: Approve | null | undefined;
    },
  ): QueryApprovals {
    const { approvals = "ask" } = settings;
    return new QueryApprovals({
      approve: approvals === "ask" ? approve : null,
      nobody: NOBODY[approvals],
      rules: approvalRules ?? null,
      deadline,
      log,
      keep,
      onUnasked: approvals === "ask" ? onUnasked : undefined,
    });
  }

  /** Unless `isQuiet` is true, rejects with `TypeError` for an invalid or too long request, and when the signal aborts. */
  async request(given: ApprovalRequest, asking: Asking): Promise<Approval> {
    if (asking.isQuiet) {
      const { scope, scopes = [scope], lasting = true } = given;
      const left = await this.#left({ ...given, scopes, lasting }, asking);
      if (left?.length === 0) return { allowed: true, reason: "" };
      this.#nameOption(given);
      return { allowed: false, reason: "Vis asked no user" };
    }
    const request = checked(given);
    const known = await this.#known(request, asking);
    if ("allowed" in known) return known;
    return await this.#turn.run(async () => {
      // Another call may have asked for the same approval while this call waited.
      const left = await this.#known(request, asking);
      return "allowed" in left ? left : await this.#ask(left, asking);
    }, asking.signal);
  }

  async #known(request: CheckedRequest, asking: Asking): Promise<Approval | CheckedRequest> {
    const left = await this.#left(request, asking);
    if (left?.length === 0) return { allowed: true, reason: "" };
    const { approve, nobody } = this.#parts;
    if (approve === null) {
      this.#nameOption(request);
      return { allowed: false, reason: nobody };
    }
    const rest = left === null || left.length === request.scopes.length
      ? request
      : { ...request, scopes: left, scope: left.join(", ") };
    const refused = this.#refused.get(refusalKey(rest, asking));
    if (refused === undefined || (refused.iteration ?? asking.emitter.iteration) !== asking.emitter.iteration) {
      return rest;
    }
    return { allowed: false, reason: refused.why, byUser: true };
  }

  /** A message of the user can change an earlier refusal. */
  forgetRefusals(): void {
    this.#refused.clear();
  }

  #nameOption({ option }: Pick<ApprovalRequest, "option">): void {
    const { approve, onUnasked } = this.#parts;
    if (approve === null && option !== undefined) onUnasked?.(option);
  }

  async #left(
    { scopes, lasting }: CheckedRequest,
    { tenant, extension, workspace, conversationId }: Asking,
  ): Promise<readonly string[] | null> {
    if (!lasting) return null;
    const { rules } = this.#parts;
    const left: string[] = [];
    for (const scope of scopes) {
      const rule = { tenant, extension, workspace, scope };
      const isAllowed = this.#allowed.has(JSON.stringify([extension, scope])) ||
        await rules?.has({ ...rule, conversationId: null }) || await rules?.has({ ...rule, conversationId });
      if (!isAllowed) left.push(scope);
    }
    return left;
  }

  async #ask(request: CheckedRequest, asking: Asking): Promise<Approval> {
    const { tenant, extension, workspace, conversationId, emitter, signal } = asking;
    const { scopes, lasting, option: _named, ...shown } = request;
    const question: ApprovalQuestion = {
      id: newId(),
      extension,
      ...shown,
      ...(lasting ? {} : { lasting }),
      ...(lasting && scopes.join() !== shown.scope ? { scopes } : {}),
    };
    emitter.send({ type: "approval_requested", ...question });
    const answer = await this.#answer(question, signal);
    if (signal.aborted) {
      this.#say(question, { decision: "no", reason: "cancelled" }, emitter);
      throw signal.reason;
    }
    const { reason } = answer;
    const decision = lasting || answer.decision === "no" ? answer.decision : "once";
    this.#say(question, { decision, reason }, emitter);
    if (decision === "no") return this.#refuse(answer, { request, asking });
    this.#refusals = 0;
    if (decision === "once") return { allowed: true, reason: "" };
    for (const scope of scopes) {
      this.#allowed.add(JSON.stringify([extension, scope]));
      const rule = { tenant, extension, workspace, scope };
      await this.#keep({ ...rule, conversationId: decision === "workspace" ? null : conversationId });
    }
    return { allowed: true, reason: "" };
  }

  #say(question: ApprovalQuestion, answer: ApprovalAnswer, emitter: Emitter): void {
    this.#parts.keep(askedText(question, answer));
    emitter.send({ type: "approval_answered", id: question.id, ...answer });
  }

  #refuse(
    { reason, fault }: Answered,
    { request, asking }: { readonly request: CheckedRequest; readonly asking: Asking },
  ): Approval {
    const why = fault ?? (reason === "" ? "the user said no" : `the user said no and wrote "${reason}"`);
    const iteration = reason === "" ? null : asking.emitter.iteration;
    this.#refused.set(refusalKey(request, asking), { why, iteration });
    if (fault !== undefined) return { allowed: false, reason: why, byUser: false };
    if (++this.#refusals < REFUSALS) return { allowed: false, reason: why, byUser: true };
    const times = `the user refused ${this.#refusals} times in a row, so stop asking`;
    return { allowed: false, byUser: true, reason: `${why} (${times})` };
  }

  async #keep(rule: ApprovalRule): Promise<void> {
    const { rules, log } = this.#parts;
    try {
      await rules?.add(rule);
    } catch (error) {
      log.error("approval_not_kept", { ...rule, error: messageOf(error) });
    }
  }

  /** The time limit of the query pauses while an approval waits. */
  async #answer(question: ApprovalQuestion, signal: AbortSignal): Promise<Answered> {
    const { approve, deadline, nobody } = this.#parts;
    try {
      return await deadline.held(async () => await approve?.(question, signal) ?? { decision: "no", reason: nobody });
    } catch (error) {
      return { decision: "no", reason: "", fault: `Vis could not ask the user (${reasonOf(error)})` };
    }
  }
}

type Answered = ApprovalAnswer & { readonly fault?: string };
type CheckedRequest = ApprovalRequest & { readonly scopes: readonly string[]; readonly lasting: boolean };

/** Lasting requests of an extension with the same scopes share a key. The key of another request contains its action. */
function refusalKey({ what, exact, change, scopes, lasting }: CheckedRequest, { extension }: Asking): string {
  return JSON.stringify([extension, ...(lasting ? [...scopes].sort() : ["", what, exact ?? "", change ?? ""])]);
}

function checked(given: ApprovalRequest): CheckedRequest {
  const { what, exact, change, why, scope, lasting = true, scopes = [scope], once, option } = given;
  const texts = [
    ...[["what", what], ["why", why], ["scope", scope], ...scopes.map((one) => ["scope", one])],
    ...exact === undefined ? [] : [["exact", exact]],
    ...change === undefined ? [] : [["change", change]],
    ...option === undefined ? [] : [["option", option]],
  ] as const;
  for (const [key, text] of texts as readonly (readonly [keyof typeof LONGEST, unknown])[]) {
    if (typeof text !== "string") throw new TypeError(`Cannot ask the user: "${key}" must be text`);
    const most = LONGEST[key];
    if (text.length > most) {
      throw new TypeError(`Cannot ask the user: "${key}" has ${text.length} characters; the limit is ${most}`);
    }
  }
  if (what === "") throw new TypeError('Cannot ask the user: "what" must not be empty');
  if (scope === "" || scopes.includes("")) throw new TypeError('Cannot ask the user: "scope" must not be empty');
  if (lasting && scopes.length === 0) throw new TypeError('Cannot ask the user: "scopes" must not be empty');
  if (scopes.length > MOST_SCOPES) {
    throw new TypeError(`Cannot ask the user: "scopes" has ${scopes.length} entries; the limit is ${MOST_SCOPES}`);
  }
  const action = { what, ...(exact ? { exact } : {}), ...(change ? { change } : {}) };
  return { ...action, why, scope, scopes, lasting, ...(once === "request" ? { once } : {}), option };
}
