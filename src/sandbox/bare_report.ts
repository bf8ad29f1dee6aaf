import type { BlockResult } from "../domain/query/query_schemas.ts";
import type { RunReport } from "./sandbox.ts";

/** The report of a block that has no value and changed no variable. */
export function bareReport(result: BlockResult): RunReport {
  return { result, saved: [], reads: [], madeFrom: new Map(), value: null, literal: false, notes: [] };
}
