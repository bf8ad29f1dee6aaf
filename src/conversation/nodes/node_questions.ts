import type { ApprovalAnswer, ApprovalQuestion } from "../../domain/query/approval.ts";
import type { ClaimedJob, NodeStore } from "../../persistence/store/node_store.ts";
import { WaitingQuestions } from "../waiting_questions.ts";

type Job = Pick<ClaimedJob, "queryId" | "epoch">;

/** Questions of the queries that run here, which clients of any node answer. */
export class NodeQuestions {
  readonly #store: Pick<NodeStore, "setQuestions">;
  readonly #ofQueries = new Map<string, WaitingQuestions>();
  /** One after the other, so that the newest list stays. */
  #shown: Promise<void> = Promise.resolve();

  constructor(store: Pick<NodeStore, "setQuestions">) {
    this.#store = store;
  }

  async ask(job: Job, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const waiting = this.#ofQueries.get(job.queryId) ?? new WaitingQuestions();
    this.#ofQueries.set(job.queryId, waiting);
    const answer = waiting.approve(question, signal);
    this.#show(job);
    try {
      return await answer;
    } finally {
      this.#show(job);
      if (waiting.all.length === 0) this.#ofQueries.delete(job.queryId);
    }
  }

  /** False if no such question of the query waits: the first answer counts. */
  answer(queryId: string, id: string, given: ApprovalAnswer): boolean {
    return this.#ofQueries.get(queryId)?.answer(id, given) ?? false;
  }

  #show(job: Job): void {
    const questions = this.#ofQueries.get(job.queryId)?.all ?? [];
    const show = () => this.#store.setQuestions(job, questions);
    // Without it, a list lacks the question; the events of the query have it.
    this.#shown = this.#shown.then(show).catch(() => {});
  }
}
