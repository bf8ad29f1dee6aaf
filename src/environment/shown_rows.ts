import { clip } from "../domain/kit/text.ts";
import type { FormerResult, FormerResults } from "../domain/query/block_result.ts";
import type { BlockResult } from "../domain/query/query_schemas.ts";
import type { Store } from "../persistence/store.ts";
import type { BlockRun, RunReport, Sandbox } from "../sandbox/sandbox.ts";

const HELD_CHARS = 120;
/** Values of one iteration together. */
const MAX_BYTES = 16 << 20;
/** How far back the last iteration with blocks is searched in a query. */
const LAST_ITERATIONS = 8;

/** Nothing is sent if there are no rows. */
export async function restoreRows(sandbox: Sandbox, rows: FormerResults): Promise<void> {
  if (rows.shown.length + rows.running.length > 0) await sandbox.restoreResults(rows);
}

/** What `results` and `printed` must hold if a child has to be replaced: the rows of the last iteration that ran
 * blocks, and those of the running one. */
export class ShownRows {
  readonly #stored: () => Promise<readonly FormerResult[]>;
  /** Null until something is known: the rows are then in the store. */
  #shown: readonly FormerResult[] | null = null;
  #running: FormerResult[] = [];
  #iteration = -1;

  constructor(stored: () => Promise<readonly FormerResult[]>) {
    this.#stored = stored;
  }

  /** Call before a block runs, so that a child which starts for it gets the right rows. */
  begin({ iteration }: Pick<BlockRun, "iteration">): void {
    if (iteration === this.#iteration) return;
    this.#rotate();
    this.#iteration = iteration;
  }

  add({ index }: Pick<BlockRun, "index">, { result, value }: RunReport): void {
    this.#running[index] = formerResult(result, value);
  }

  /** From here on, what was shown is in the store. */
  reset(): void {
    this.#shown = null;
    this.#running = [];
    this.#iteration = -1;
  }

  async current(): Promise<FormerResults> {
    this.#shown ??= await this.#stored();
    return { shown: bounded(this.#shown), running: bounded(this.#running), iteration: this.#iteration };
  }

  #rotate(): void {
    if (this.#iteration === -1) return;
    this.#shown = this.#running;
    this.#running = [];
    this.#iteration = -1;
  }
}

function formerResult(
  { ok, outcome, preview, type, stdout, stderr }: BlockResult,
  value: FormerResult["value"],
): FormerResult {
  const isGone = ok && outcome === "value" && value === null;
  return { value, held: isGone ? clip(preview || type || "a value", HELD_CHARS) : "", printed: stdout + stderr };
}

function bounded(rows: readonly FormerResult[]): readonly FormerResult[] {
  let bytes = 0;
  return Array.from(rows, (row = { value: null, held: "", printed: "" }) => {
    bytes += row.value?.length ?? 0;
    return bytes <= MAX_BYTES ? row : { ...row, value: null, held: `a value of ${row.value?.length ?? 0} bytes` };
  });
}

/** The rows of the last iteration of a branch that ran blocks, as an earlier process stored them. */
export async function storedRows(
  store: Pick<Store, "queries" | "iterations">,
  branchId: string,
): Promise<readonly FormerResult[]> {
  for (const { queryId, iterations } of (await store.queries(branchId, { newest: 2 })).toReversed()) {
    for (let position = iterations - 1; position >= Math.max(0, iterations - LAST_ITERATIONS); position--) {
      const [found] = await store.iterations(queryId, { after: position - 1, limit: 1 });
      if (found && found.blocks.length > 0) return found.blocks.map(({ result, value }) => formerResult(result, value));
    }
  }
  return [];
}
