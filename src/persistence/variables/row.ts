import type { VariableImage, VariableSummary } from "../../domain/query/variable.ts";
import { checkOf, compareValue, type Content, type ValueCheck } from "../content/content.ts";
import { fromJson, toJson } from "../database/json.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { searchText } from "../database/search_text.ts";

/** `expression_state.metadata` of a variable. `text` marks a system variable: its result is UTF-8 text. */
export interface VariableMetadata extends Omit<VariableImage, "name" | "bytes" | "kind">, ValueCheck {
  readonly kind: VariableImage["kind"] | "text";
  /** `expression_state.id` of the block that made this version; null for system variables. */
  readonly block: string | null;
  /** Position among the versions that the block made. */
  readonly order: number;
}

type ExpressionState = DatabaseSchema["expressionState"];
type Cells = Pick<ExpressionState, "expr" | "result" | "metadata">;

/** The cells of one version. The source of a function or class is searchable, so it is stored in `expr`; other values
 * refer to their block instead of repeating its text. */
export async function variableCells(
  content: Content,
  { image, block, order, before }: {
    readonly image: VariableImage;
    readonly block: string | null;
    readonly order: number;
    /** The result of the previous version. */
    readonly before: Cells["result"];
  },
): Promise<Cells> {
  const { name: _name, bytes, source, ...rest } = image;
  const declared = (image.kind === "function" || image.kind === "class") && source.trim() !== "";
  const expr = declared ? searchText(source) : null;
  const metadata = { ...rest, ...(expr === source ? {} : { source }), block, order, ...checkOf(bytes) };
  return {
    expr,
    result: bytes.length === 0 ? null : await content.putBytes(bytes, before),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The cells of one version of a system variable. */
export async function systemCells(content: Content, text: string): Promise<Cells> {
  const summary: VariableSummary = {
    declaration: "const",
    type: "string",
    size: text.length,
    shape: `string(${text.length})`,
    inline: text.length <= 100 ? JSON.stringify(text).slice(0, 120) : null,
    doc: "",
  };
  const bytes = new TextEncoder().encode(text);
  const metadata = {
    ...{ kind: "text", root: null, source: "", requires: [], reason: "", summary, block: null, order: 0 },
    ...checkOf(bytes),
  };
  return {
    expr: null,
    result: await content.putBytes(bytes),
    metadata: await content.putText(toJson(metadata)),
  };
}

/** The image from cells that were loaded into `content`. For a system variable, `source` is its text. Throws `Damage`
 * for a value that is not what was stored. */
export function variableImage(content: Content, row: Cells & { readonly name: string | null }): VariableImage {
  const facts = fromJson<VariableMetadata>(content.text(row.metadata ?? "{}"));
  const bytes = row.result === null || facts.large !== undefined ? new Uint8Array() : content.bytes(row.result);
  if (row.result !== null) compareValue(bytes, facts, `a value of variable ${row.name}`);
  const text = facts.kind === "text";
  return {
    name: row.name ?? "",
    kind: facts.kind === undefined || facts.kind === "text" ? "data" : facts.kind,
    bytes: text ? new Uint8Array() : bytes,
    root: facts.root ?? null,
    source: text ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) : facts.source ?? row.expr ?? "",
    requires: facts.requires ?? [],
    reason: facts.reason ?? "",
    summary: facts.summary ?? { declaration: "", type: "", size: null, shape: "", inline: null, doc: "" },
    ...(facts.large === undefined ? {} : { large: facts.large }),
  };
}

/** Loads the cells of values to be read, except texts that are too large to pass around. */
export async function loadValues(content: Content, rows: readonly Pick<Cells, "result" | "metadata">[]): Promise<void> {
  await content.load(rows.map(({ metadata }) => metadata));
  const small = rows.filter(({ metadata }) =>
    fromJson<VariableMetadata>(content.text(metadata ?? "{}")).large === undefined
  );
  await content.load(small.map(({ result }) => result));
}
