import { abortable } from "../domain/kit/concurrency.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../domain/query/approval.ts";

/** The questions of one query that wait for a client's answer. */
export class WaitingQuestions {
  readonly #waiting = new Map<string, { readonly question: ApprovalQuestion; answer(given: ApprovalAnswer): void }>();

  /** Waits for any client that may begin queries, also after the one that began this query has left. */
  readonly approve: Approve = async (question, signal) => {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    this.#waiting.set(question.id, { question, answer: resolve });
    try {
      return await abortable(promise, signal);
    } finally {
      this.#waiting.delete(question.id);
    }
  };

  get all(): readonly ApprovalQuestion[] {
    return Array.from(this.#waiting.values(), ({ question }) => question);
  }

  /** False if no such question waits. */
  answer(id: string, given: ApprovalAnswer): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.answer(given);
    return waiting !== undefined;
  }
}
