import { TakenOverError } from "../../domain/errors.ts";
import type { Database } from "../database/database.ts";

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

  /** Locks the job of a run until the transaction ends, so that no node takes it in between. Throws `TakenOverError`
   * unless this node holds it. */
  async check(tx: Database, queryId: string): Promise<void> {
    const held = this.#runs.get(queryId);
    if (!held) return;
    const [job] = await tx.run("SELECT node_id, epoch FROM job WHERE query_id = $1 FOR SHARE", [queryId]);
    const isHeld = job ? job["nodeId"] === this.node && job["epoch"] === held.epoch : held.over;
    if (!isHeld) throw new TakenOverError(queryId);
  }
}
