import { Buffer } from "node:buffer";
import type { DatabaseSchema } from "./schema.ts";

/** The cells that a row's checksum covers, in this order. It leaves out the counts and sums that triggers maintain, and
 * the number by which SQLite orders changes of scope. */
export const CHECKED = {
  conversationSoul: ["id", "metadata", "createdAt", "activity", "tenant"],
  conversationState: [
    "id",
    "conversationSoulId",
    "parentStateId",
    "title",
    "version",
    "metadata",
    "createdAt",
    "queries",
  ],
  querySoul: ["id", "conversationStateId", "title", "query", "metadata", "createdAt", "number", "runs", "variables"],
  queryState: [
    "id",
    "querySoulId",
    "forkedFromQueryStateId",
    "version",
    "llmProvider",
    "llmRootModel",
    "promptEnrichment",
    "subtitle",
    "runLabel",
    "status",
    "metadata",
    "createdAt",
  ],
  iteration: [
    "id",
    "queryStateId",
    "position",
    "status",
    "llmSystemPrompt",
    "llmUserPrompt",
    "llmProvider",
    "llmModel",
    "llmResponse",
    "llmTraces",
    "llmFullDurationMs",
    "llmThinking",
    "llmError",
    "llmReturnedEmptyExpressions",
    "metadata",
    "createdAt",
    "finishedAt",
    "variables",
  ],
  expressionSoul: ["id", "conversationStateId", "kind", "stateMode", "name", "metadata", "createdAt"],
  expressionState: [
    "id",
    "expressionSoulId",
    "iterationId",
    "version",
    "success",
    "expr",
    "result",
    "error",
    "stdout",
    "stderr",
    "durationMs",
    "metadata",
    "createdAt",
    "replaces",
  ],
  expressionDependency: [
    "id",
    "conversationStateId",
    "downstreamExpressionSoulId",
    "upstreamExpressionSoulId",
    "metadata",
    "createdAt",
  ],
  scopeChange: ["expressionSoulId", "queryStateId", "position", "scope", "createdAt"],
  extensionState: [
    "id",
    "namespace",
    "conversationStateId",
    "queryStateId",
    "position",
    "key",
    "version",
    "value",
    "createdAt",
    "tenant",
  ],
  requestKey: ["conversationStateId", "key", "fingerprint", "queryStateId", "createdAt"],
  childBranch: ["conversationStateId", "iterationId", "depth", "createdAt"],
  subCall: [
    "id",
    "iterationId",
    "llmProvider",
    "llmModel",
    "prompt",
    "reply",
    "error",
    "usage",
    "costUsd",
    "durationMs",
    "createdAt",
  ],
} as const satisfies { readonly [T in keyof DatabaseSchema]?: readonly (keyof DatabaseSchema[T])[] };

export type CheckedTable = keyof typeof CHECKED;

/** The checksum of a row: 32-bit FNV-1a over its table and its cells as JSON. It detects every change of a single
 * character; other damage goes undetected once in four billion cases. */
export function rowChecksum(table: string, cells: readonly unknown[]): number {
  const text = JSON.stringify(cells.map(asJson));
  // What the database does not return as it was written, NUL and lone surrogates, is an escape in JSON.
  const read = text.includes("\\u") ? JSON.stringify(cells.map((cell) => asJson(asRead(cell)))) : text;
  return fnv1a(read, fnv1a(table));
}

/** 32-bit FNV-1a, which changes if any character changes. */
export function fnv1a(text: string, start = 0x811c9dc5): number {
  let sum = start;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum;
}

/** Integers come from SQLite as `bigint`, and from whoever stores a row as numbers. */
function asJson(cell: unknown): unknown {
  if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : { integer: String(cell) };
  if (!(cell instanceof Uint8Array)) return cell;
  return { bytes: Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength).toString("latin1") };
}

/** A cell as it is read back: the database holds UTF-8, and a NUL ends a text. */
function asRead(cell: unknown): unknown {
  return typeof cell === "string" ? cell.toWellFormed().replace(/\0[^]*/, "") : cell;
}
