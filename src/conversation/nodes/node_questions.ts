import { abortable } from "../../domain/kit/abortable.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../../domain/query/approval.ts";
import type { ClaimedJob, NodeStore } from "../../persistence/store/node_store.ts";

type Job = Pick<ClaimedJob, "queryId" | "epoch">;

interface Waiting {
  readonly queryId: string;
  readonly question: ApprovalQuestion;
  answer(given: ApprovalAnswer): void;
}

/** Questions of the queries that run here, which clients of any node answer. */
export class NodeQuestions {
  readonly #store: Pick<NodeStore, "setQuestions">;
  readonly #waiting = new Map<string, Waiting>();
  /** One after the other, so that the newest list stays. */
  #shown: Promise<void> = Promise.resolve();

  constructor(store: Pick<NodeStore, "setQuestions">) {
    this.#store = store;
  }

  async ask(job: Job, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    this.#waiting.set(question.id, { queryId: job.queryId, question, answer: resolve });
    this.#show(job);
    try {
      return await abortable(promise, signal);
    } finally {
      this.#waiting.delete(question.id);
      this.#show(job);
    }
  }

  /** False if no such question of the query waits: the first answer counts. */
  answer(queryId: string, id: string, given: ApprovalAnswer): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting?.queryId !== queryId) return false;
    this.#waiting.delete(id);
    waiting.answer(given);
    return true;
  }

  #show(job: Job): void {
    const questions = [...this.#waiting.values()].filter(({ queryId }) => queryId === job.queryId);
    const show = () => this.#store.setQuestions(job, questions.map(({ question }) => question));
    // Without it, a list lacks the question; the events of the query have it.
    this.#shown = this.#shown.then(show).catch(() => {});
  }
}
