import { newId } from "../../domain/kit/ids.ts";
import type { Statement } from "./write_batch.ts";

/** A run as it was read. */
export interface SeenRun {
  readonly id: string;
  /** The version of its row. */
  readonly version: string;
  /** The node that has it, and under which epoch; null if none has. */
  readonly holder: string | null;
}

interface Mark {
  readonly mark: string;
  /** The value that `vis.tenant` must have. */
  readonly tenant: string;
  /** The run that must still be as it was read. */
  readonly run: SeenRun | null;
}

const RUN = `(SELECT true FROM query_state s WHERE s.id = $5 AND s.xmin::text = $6
  AND (SELECT j.node_id || ' ' || j.epoch FROM job j WHERE j.query_id = s.id FOR SHARE) IS NOT DISTINCT FROM $7
  FOR NO KEY UPDATE)`;

/** The column takes no NULL, so that what must hold and does not undoes the transaction. */
const put = (condition: string): string =>
  `INSERT INTO last_write AS w (writer, mark) VALUES ($1, CASE WHEN ${condition} THEN $2 END)
ON CONFLICT (writer) DO UPDATE SET written_at = excluded.written_at,
  mark = CASE WHEN w.mark = $3 THEN excluded.mark END`;
const PUT = put("current_setting('vis.tenant') = $4");
const PUT_OF_RUN = put(`current_setting('vis.tenant') = $4 AND ${RUN}`);
const SETTLE = `INSERT INTO last_write AS w (writer, mark) VALUES ($1, $2)
ON CONFLICT (writer) DO UPDATE SET mark = CASE WHEN w.mark = $3 THEN excluded.mark ELSE w.mark END RETURNING mark`;
/** Those of processes that were killed go too. */
const FORGET = `DELETE FROM last_write WHERE writer = $1 OR written_at < clock_timestamp() - interval '1 day'`;

/** The last transaction of a process. It writes one after the other, so that one row is enough for it: each transaction
 * puts its mark in the place of the one before, and fails if it finds another one. */
export class LastWrite {
  readonly #writer = newId();
  /** The newest mark that is known to be stored. */
  #known = "";

  /** Whether a transaction is known to be stored. */
  get isKnown(): boolean {
    return this.#known !== "";
  }

  /** What each transaction stores. */
  put({ mark, tenant, run }: Mark): Statement {
    const parameters = [this.#writer, mark, this.#known, tenant];
    if (run === null) return { text: PUT, parameters };
    return { text: PUT_OF_RUN, parameters: [...parameters, run.id, run.version, run.holder] };
  }

  /** The transaction with this mark was committed. */
  stored(mark: string): void {
    this.#known = mark;
  }

  /** Reads the newest mark. One that has not arrived by then finds another mark than the one before it. */
  settle(): Statement {
    return { text: SETTLE, parameters: [this.#writer, newId(), this.#known] };
  }

  forget(): Statement {
    return { text: FORGET, parameters: [this.#writer] };
  }
}
