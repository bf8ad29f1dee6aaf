import { blockResult } from "../../domain/query/block_result.ts";
import type { BlockError, BlockResult } from "../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { checkOf, compareValue, type Content, type ValueCheck } from "../content/content.ts";
import { fromJson, toJson } from "../database/json.ts";
import { searchText } from "../database/search_text.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import type { StoredBlock } from "../store/iteration_store.ts";

const MAX_VALUE_BYTES = 1024 * 1024;

/** `expression_state.metadata` of a block. */
type BlockMetadata =
  & Omit<BlockResult, "stdout" | "stderr" | "error" | "ms" | "defined">
  & { readonly index: number; readonly reads: readonly string[]; readonly defines: readonly string[] }
  & Partial<ExactTexts>
  & ValueCheck
  & { readonly ms?: number };

/** Texts that their columns cannot return exactly: blank code, lone surrogates, NUL. */
interface ExactTexts {
  readonly code: string;
  readonly stdout: string;
  readonly stderr: string;
}

type ExpressionState = DatabaseSchema["expressionState"];
type Cells = Omit<
  ExpressionState,
  "rowid" | "id" | "expressionSoulId" | "iterationId" | "version" | "createdAt"
>;

/** The columns of a block's row in `expression_state`. */
export async function blockCells(content: Content, block: StoredBlock & { readonly index: number }): Promise<Cells> {
  const { code, result, reads, value, index } = block;
  const { stdout, stderr, error, ms, defined, ...rest } = result;
  const expr = code.trim() === "" ? null : searchText(code);
  const exact: Partial<BlockMetadata> = {
    ...(expr === code ? {} : { code }),
    ...(stdout.isWellFormed() ? {} : { stdout }),
    ...(stderr.isWellFormed() ? {} : { stderr }),
    ...(Number.isInteger(ms) && ms >= 0 ? {} : { ms }),
  };
  const kept = value === null || value.length > MAX_VALUE_BYTES ? null : value;
  const metadata = { index, ...rest, reads, defines: defined, ...exact, ...(kept ? checkOf(kept) : {}) };
  return {
    success: error === null ? 1 : 0,
    expr,
    result: kept && await content.putBytes(kept),
    error: error === null ? null : await content.putBytes(new TextEncoder().encode(toJson({ ...error }))),
    stdout: await content.putText(stdout),
    stderr: await content.putText(stderr),
    durationMs: Math.max(0, Math.round(ms)),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The block of a row whose cells were loaded into `content`. */
export function storedBlock(
  content: Content,
  { row, literal, saved }: {
    readonly row: Pick<ExpressionState, "expr" | "result" | "error" | "stdout" | "stderr" | "durationMs" | "metadata">;
    readonly literal: boolean;
    readonly saved: readonly VariableImage[];
  },
): StoredBlock {
  const { index: _index, reads, defines, code, ms, stdout, stderr, crc, ...rest } = fromJson<BlockMetadata>(
    content.text(row.metadata ?? "{}"),
  );
  const value = row.result === null ? null : content.bytes(row.result);
  if (value) compareValue(value, crc === undefined ? {} : { crc }, "the value of a block");
  return {
    code: code ?? row.expr ?? "",
    literal,
    saved,
    reads: reads ?? [],
    value,
    result: blockResult({
      ...rest,
      stdout: stdout ?? content.text(row.stdout ?? ""),
      stderr: stderr ?? content.text(row.stderr ?? ""),
      error: row.error === null ? null : blockError(content.bytes(row.error)),
      ms: ms ?? row.durationMs ?? 0,
      defined: defines ?? [],
    }),
  };
}

function blockError(bytes: Uint8Array): BlockError {
  const fields = fromJson<BlockError>(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  return { name: "Error", message: "", line: null, column: null, excerpt: "", stack: "", ...fields };
}
