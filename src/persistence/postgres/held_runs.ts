import { TakenOverError } from "../../domain/errors.ts";

interface Held {
  readonly epoch: number;
  /** Whether this process has stored the end, with which the job goes. */
  over: boolean;
}

/** The runs that this process works on as a node, and under which epoch it took each. */
export class HeldRuns {
  /** The id of this node; "" if it is not a node. */
  node = "";
  readonly #runs = new Map<string, Held>();

  take(queryId: string, epoch: number): void {
    this.#runs.set(queryId, { epoch, over: false });
  }

  /** Its end is stored. */
  ended(queryId: string): void {
    const held = this.#runs.get(queryId);
    if (held) held.over = true;
  }

  /** Nothing of it runs here any more. Those that were lost stay: something of them may still write. */
  forget(queryId: string): void {
    if (this.#runs.get(queryId)?.over) this.#runs.delete(queryId);
  }

  /** Throws `TakenOverError` unless this node holds the run; `holder` is the node with the epoch, null without a job. */
  check({ id, holder }: { readonly id: string; readonly holder: string | null }): void {
    const held = this.#runs.get(id);
    if (!held) return;
    const isHeld = holder === null ? held.over : holder === `${this.node} ${held.epoch}`;
    if (!isHeld) throw new TakenOverError(id);
  }
}
