import type { QueryReason } from "../domain/query/query_result.ts";
import type { IterationFault } from "../iteration/iteration.ts";

/** This many consecutive replies with the same fault end the query: telling the model what is wrong does not help. */
const SAME = 3;
/** Replies that break off are the connection's fault, so more of them are tolerated. */
const BROKEN = 5;
/** Consecutive unusable replies, whatever their faults. */
const UNUSABLE = 5;

/** The consecutive replies that could not be used. */
export interface Unusable {
  readonly model: string;
  readonly count: number;
  /** Null if they had different faults. */
  readonly fault: IterationFault | null;
}

/** Counts consecutive iterations without a result. */
export class Faults {
  #what = "";
  #same = 0;
  #replies = 0;
  #unusable: Unusable | null = null;

  /** The replies that ended the query with `unusable_replies`. */
  get unusable(): Unusable | null {
    return this.#unusable;
  }

  /** Counts one more; `text` distinguishes faults of calls. Returns the reason if the query must end, else null. */
  add(
    fault: IterationFault,
    { text, model }: { readonly text: string; readonly model: string },
  ): Extract<QueryReason, "provider" | "unusable_replies"> | null {
    const what = fault === "call" ? `call: ${text}` : fault;
    this.#same = what === this.#what ? this.#same + 1 : 1;
    this.#what = what;
    if (fault === "broken") return this.#same >= BROKEN ? "provider" : null;
    if (fault === "call") return this.#same >= SAME ? "provider" : null;
    this.#replies++;
    if (this.#same >= SAME) this.#unusable = { model, count: this.#same, fault };
    else if (this.#replies >= UNUSABLE) this.#unusable = { model, count: this.#replies, fault: null };
    return this.#unusable === null ? null : "unusable_replies";
  }

  /** Call it when an iteration had a result. */
  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}
