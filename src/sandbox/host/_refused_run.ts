import { failedBlock } from "../../domain/query/block_result.ts";
import type { RunReport } from "../sandbox.ts";

/** The report for a block that was not run. */
export function refusedRun(message: string): RunReport {
  const result = failedBlock("refused", { name: "Error", message });
  return { result, saved: [], reads: [], value: null, literal: false, notes: [] };
}
