// Thin stand-in.
import type { VariableSummary } from "../../domain/variable.ts";
export function summarize(value: unknown, o: { readonly declaration: string; readonly doc: string }): VariableSummary {
  return { ...o, type: typeof value, size: null, shape: typeof value, inline: null };
}
