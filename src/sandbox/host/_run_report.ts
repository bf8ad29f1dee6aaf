import { isVariableName } from "../../domain/kit/names.ts";
import { blockResult } from "../../domain/query/block_result.ts";
import type { BlockError } from "../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { bareReport } from "../bare_report.ts";
import { imageList } from "../child/variables/image_list.ts";
import { decode } from "../codec/codec.ts";
import { FrameFields, ProtocolError } from "../protocol.ts";
import type { RunReport } from "../sandbox.ts";
import type { AnswerFrames } from "./_requests.ts";
import { cleanText } from "./clean_text.ts";

const NAMES = { items: 100_000, length: 1000 } as const;
const MAX_TEXT = 1 << 20, MAX_VALUE_BYTES = 1 << 20;
const OUTCOMES = ["value", "none", "error", "refused", "timeout", "cancelled"] as const;

/** What the main process itself observed about the run. */
export interface Observed {
  readonly stdout: string;
  readonly stderr: string;
  readonly calls: RunReport["result"]["calls"];
  readonly ms: number;
}

/** Reads the `done` frames of a run: saved variables in all of them, the result in the last. Throws ProtocolError or
 * CodecError for anything that a genuine child does not send. */
export function readRunReport({ payloads, header }: AnswerFrames, observed: Observed): RunReport {
  const last = payloads[payloads.length - 1];
  if (!last) throw new ProtocolError("Cannot read a report without a result");
  const fields = new FrameFields(decode(last), "report");
  const outcome = fields.oneOf("outcome", OUTCOMES);
  const error = header["error"] === null ? null : blockError(header["error"]);
  const repaired = fields.nullable("repaired", (name) => clean(fields, name));
  if (outcome === "refused") return bareReport(blockResult({ ...observed, outcome, error, repaired }));
  const earlier = payloads.slice(0, -1).flatMap((part) => imageList(decode(part)));
  const saved = [...earlier, ...imageList(fields.value["saved"])].map(checkedImage);
  const result = blockResult({
    ...observed,
    ok: outcome === "value" || outcome === "none",
    outcome,
    preview: clean(fields, "preview"),
    type: clean(fields, "type"),
    size: fields.nullable("size", (name) => fields.amount(name)),
    dropped: fields.amount("dropped"),
    error,
    defined: names(fields, "defined"),
    touched: names(fields, "touched"),
    pending: names(fields, "pending"),
    lost: names(fields, "lost"),
    ms: fields.amount("ms"),
    timedOut: outcome === "timeout",
    repaired,
  });
  const value = fields.nullable("value", (name) => fields.bytes(name));
  if (value && value.length > MAX_VALUE_BYTES) throw new ProtocolError(`Cannot take a value of ${value.length} bytes`);
  return {
    result,
    saved,
    reads: names(fields, "reads"),
    madeFrom: madeFrom(fields.value["madeFrom"]),
    value,
    literal: fields.flag("literal"),
    notes: fields.texts("notes", { items: 100, length: 10_000 }).map(cleanNote),
  };
}

/** On one line: a list of notes shows each line as one. */
function cleanNote(text: string): string {
  return cleanText(text).replace(/\s*[\n\u2028\u2029]\s*/g, " ");
}

function clean(fields: FrameFields, name: string): string {
  return cleanText(fields.text(name, MAX_TEXT));
}

function names(fields: FrameFields, name: string): string[] {
  return fields.texts(name, NAMES).map(checkedName);
}

function madeFrom(value: unknown): RunReport["madeFrom"] {
  const fields = new FrameFields(value, "madeFrom");
  const keys = Object.keys(fields.value);
  if (keys.length > NAMES.items) throw new ProtocolError(`Cannot take ${keys.length} variables of a block`);
  return new Map(keys.map((name) => [checkedName(name), names(fields, name)]));
}

/** Names go into prompts and lists, so only names that a block can declare are accepted. */
function checkedName(name: string): string {
  if (!isVariableName(name)) throw new ProtocolError("Cannot take a variable with such a name");
  return name;
}

/** The source stays unchanged, since it is evaluated again; everything that is shown is cleaned. */
function checkedImage(image: VariableImage): VariableImage {
  const { summary } = image;
  return {
    ...image,
    name: checkedName(image.name),
    reason: cleanText(image.reason),
    summary: {
      declaration: cleanText(summary.declaration),
      type: cleanText(summary.type),
      size: summary.size,
      shape: cleanText(summary.shape),
      inline: summary.inline === null ? null : cleanText(summary.inline),
      doc: cleanText(summary.doc),
    },
  };
}

function blockError(value: unknown): BlockError {
  const fields = new FrameFields(value, "error");
  return {
    name: clean(fields, "name"),
    message: clean(fields, "message"),
    line: fields.nullable("line", (name) => fields.amount(name)),
    column: fields.nullable("column", (name) => fields.amount(name)),
    excerpt: clean(fields, "excerpt"),
    stack: clean(fields, "stack"),
  };
}
