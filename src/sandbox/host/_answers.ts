import { cleanText } from "./clean_text.ts";
import type { AnswerFrames } from "./_requests.ts";
import { decode } from "../codec/codec.ts";
import { FrameFields, MAX_PAYLOAD_BYTES, ProtocolError } from "../protocol.ts";
import type { RenderReport, VariableRestoreReport } from "../sandbox.ts";

const MAX_REPORTS = 100_000, MAX_TEXT = 4000;

/** The body of an answer to anything but a run. Throws the error that the child reports, or ProtocolError. */
function body({ payloads }: AnswerFrames): unknown {
  const [only, ...more] = payloads;
  if (!only || more.length > 0) throw new ProtocolError("Cannot read an answer in several parts");
  const fields = new FrameFields(decode(only), "answer");
  if (fields.flag("ok")) return fields.value["value"];
  const error = new FrameFields(fields.value["error"], "error");
  const message = cleanText(error.text("message", MAX_TEXT));
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
      name: cleanText(fields.text("name", MAX_TEXT)),
      how: fields.oneOf("how", ["data", "eval", "skipped", "lost"]),
      reason: cleanText(fields.text("reason", MAX_TEXT)),
    };
  });
}

/** The text is an answer and stays unchanged, including the line endings of files: a channel cleans what it shows. */
export function readRenderReport(answer: AnswerFrames): RenderReport {
  const fields = new FrameFields(body(answer), "rendering");
  if (!fields.flag("ok")) return { ok: false, reason: cleanText(fields.text("reason", MAX_TEXT)) };
  return {
    ok: true,
    from: fields.oneOf("from", ["variable", "template", "literal"]),
    text: fields.text("text", MAX_PAYLOAD_BYTES),
  };
}
