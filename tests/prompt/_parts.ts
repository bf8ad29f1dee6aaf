import { blockResult } from "../../src/domain/query/host_call.ts";
import type { BlockResult } from "../../src/domain/query/query_schemas.ts";
import type { ContextParts, IndexedVariable, JournalEntry } from "../../src/prompt/context_message.ts";
import { NO_CONTEXT } from "../helpers/no_context.ts";

export function parts(fields: Partial<ContextParts> = {}): ContextParts {
  return { ...NO_CONTEXT, iteration: 3, budget: 8, ...fields };
}

/** Returns a journal entry that succeeded, unless `fields` differ. */
export function entry(code: string, fields: Partial<BlockResult> = {}): JournalEntry {
  return { code, result: blockResult({ ok: true, outcome: "value", preview: "1", type: "number", ...fields }) };
}

export function failedEntry(code: string, fields: Partial<BlockResult> = {}): JournalEntry {
  const error = { name: "TypeError", message: "no", line: 2, column: 3, excerpt: "  boom()\n  ^", stack: "" };
  return { code, result: blockResult({ outcome: "error", error, ...fields }) };
}

type VariableFields = Partial<Omit<IndexedVariable, "name" | "summary">> & Partial<IndexedVariable["summary"]>;

/** Returns a live string of 4096 characters, unless `fields` differ. */
export function variable(name: string, fields: VariableFields = {}): IndexedVariable {
  const { kind = "data", versions = 1, scope = "live", reason = "", code, ...summary } = fields;
  return {
    name,
    kind,
    versions,
    scope,
    reason,
    ...(code === undefined ? {} : { code }),
    summary: {
      declaration: "const",
      type: "string",
      size: 4096,
      shape: "string(4096)",
      inline: null,
      doc: "",
      ...summary,
    },
  };
}
