import type { QueryReason } from "../domain/query/query_result.ts";
import type { IterationFault } from "../iteration/iteration.ts";

/** The same fault so often in a row ends the query: telling the model what is wrong does not help. */
const SAME = 3;
/** Replies that break off are the connection's fault: more of them are borne. */
const BROKEN = 5;
/** Unusable replies in a row, whatever is wrong with each. */
const UNUSABLE = 5;

/** The replies that could not be used, in a row. */
export interface Unusable {
  readonly model: string;
  readonly count: number;
  /** Null where they had several. */
  readonly fault: IterationFault | null;
}

/** Counts iterations that came to nothing, in a row. */
export class Faults {
  #what = "";
  #same = 0;
  #replies = 0;
  #unusable: Unusable | null = null;

  /** What ended the query with `unusable_replies`. */
  get unusable(): Unusable | null {
    return this.#unusable;
  }

  /** One more; `text` tells faults of calls apart. The reason for which the query ends with it, or null. */
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

  /** An iteration came to something. */
  clear(): void {
    this.#what = "";
    this.#same = 0;
    this.#replies = 0;
  }
}
