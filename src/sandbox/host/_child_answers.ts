import { isVariableName } from "../../domain/kit/names.ts";
import { blockResult } from "../../domain/query/block_result.ts";
import type { BlockError } from "../../domain/query/query_schemas.ts";
import type { VariableImage } from "../../domain/query/variable.ts";
import { imageList } from "../child/variables/image_frames.ts";
import { decode } from "../codec/codec.ts";
import {
  type Bytes,
  FrameFields,
  type Header,
  MAX_PAYLOAD_BYTES,
  PROTOCOL_VERSION,
  ProtocolError,
} from "../protocol.ts";
import { bareReport, type RenderReport, type RunReport, type VariableRestoreReport, type Walls } from "../sandbox.ts";

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

const MAX_REPORTS = 100_000, MAX_ANSWER_TEXT = 4000;

/** The body of an answer to anything but a run. Throws the error that the child reports, or ProtocolError. */
function body({ payloads }: AnswerFrames): unknown {
  const [only, ...more] = payloads;
  if (!only || more.length > 0) throw new ProtocolError("Cannot read an answer in several parts");
  const fields = new FrameFields(decode(only), "answer");
  if (fields.flag("ok")) return fields.value["value"];
  const error = new FrameFields(fields.value["error"], "error");
  const message = cleanText(error.text("message", MAX_ANSWER_TEXT));
  throw error.flag("tooLarge") ? new RangeError(message) : new Error(message);
}

/** The requested value; undefined for a request without one. */
export function readValue(answer: AnswerFrames): unknown {
  const value = body(answer);
  if (value === null) return undefined;
  return decode(new FrameFields({ value }, "answer").bytes("value"));
}

export function readRestoreReports(answer: AnswerFrames): VariableRestoreReport[] {
  return new FrameFields({ reports: body(answer) }, "answer").list("reports", MAX_REPORTS).map((one) => {
    const fields = new FrameFields(one, "report");
    return {
      name: cleanText(fields.text("name", MAX_ANSWER_TEXT)),
      how: fields.oneOf("how", ["data", "eval", "skipped", "lost"]),
      reason: cleanText(fields.text("reason", MAX_ANSWER_TEXT)),
    };
  });
}

/** The text is an answer and stays unchanged, including the line endings of files: a channel cleans what it shows. */
export function readRenderReport(answer: AnswerFrames): RenderReport {
  const fields = new FrameFields(body(answer), "rendering");
  if (!fields.flag("ok")) return { ok: false, reason: cleanText(fields.text("reason", MAX_ANSWER_TEXT)) };
  return {
    ok: true,
    from: fields.oneOf("from", ["variable", "template", "literal"]),
    text: fields.text("text", MAX_PAYLOAD_BYTES),
  };
}

/** The frames of one answer. */
export interface AnswerFrames {
  readonly payloads: readonly Bytes[];
  /** Header of the last frame. */
  readonly header: Header;
}

/** The walls that a child reports. Throws ProtocolError. */
export function readReady(header: Header): Walls {
  const fields = new FrameFields(header, "ready");
  fields.oneOf("version", [PROTOCOL_VERSION]);
  const walls = new FrameFields(fields.value["walls"], "walls");
  const kernel = new FrameFields(walls.value["kernel"], "kernel wall");
  return {
    realm: walls.flag("realm"),
    permissions: walls.flag("permissions"),
    process: walls.flag("process"),
    kernel: { landlock: kernel.amount("landlock"), seccomp: kernel.flag("seccomp") },
    failed: walls.texts("failed", { items: 1000, length: 1000 }).map(cleanText),
  };
}

// C0 without \t and \n, DEL, C1, and marks that change the direction of text.
// deno-lint-ignore no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text from a child with terminal control characters shown as escapes, so that none is dropped. */
export function cleanText(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The preparation of a block refuses longer ones. */
const MAX_CHARS = 256 << 10;
const NAME = String.raw`[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*`;
/** Comments, texts, marks of structure, and the keywords that declare. */
const TOKEN = new RegExp(
  String.raw`//[^\n]*|/\*[^]*?(?:\*/|$)|"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?|` +
    "`(?:[^`\\\\]|\\\\[^])*`?|" +
    String.raw`[{}()[\],;]|(?<![\w$.#])(?:const|let|var|class|enum|function)(?![\w$])[\s*]*`,
  "gu",
);
const NEXT_NAME = new RegExp(String.raw`\s*(${NAME})`, "uy");
const NAME_IN_PATTERN = new RegExp(String.raw`(?<=[{[,:]\s*|\.\.\.)${NAME}(?=\s*[,}\]=])`, "gu");

/** Names that a block declares at its top level, for a block whose child died before it could report them. They are
 * found by their keywords: parsing could take the main process too long. Patterns may give a name too many. */
export function declaredNames(code: string): string[] {
  const names = new Set<string>();
  if (code.length > MAX_CHARS) return [];
  let depth = 0, pattern = -1;
  let isList = false; // after a comma, a variable declaration has another name
  const takeName = (from: number): boolean => {
    NEXT_NAME.lastIndex = from;
    const name = NEXT_NAME.exec(code)?.[1];
    if (name !== undefined) names.add(name);
    return name !== undefined;
  };
  for (const { 0: token, index } of code.matchAll(TOKEN)) {
    const first = token.charAt(0), end = index + token.length;
    if (first === "{" || first === "[" || first === "(") depth++;
    else if (first === "}" || first === "]" || first === ")") {
      depth = Math.max(0, depth - 1);
      if (depth > 0 || pattern < 0) continue;
      for (const [name] of code.slice(pattern, end).matchAll(NAME_IN_PATTERN)) names.add(name);
      pattern = -1;
    } else if (depth > 0 || /^["'`/]/.test(first)) continue;
    else if (first === ";") isList = false;
    else if (first !== "," || isList) {
      if (first !== ",") isList = /^[clv][oea][ntr]/.test(token);
      if (!takeName(end) && isList) pattern = end;
    }
  }
  return [...names];
}
