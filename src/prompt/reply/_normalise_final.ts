import type { AnswerType, Confidence } from "../../domain/query/query_result.ts";
import type { ReplyFinal } from "./reply.ts";
import { fieldsOf, pick, plainText, type ReplyFields } from "./_reply_fields.ts";

const ANSWER = ["answer", "text", "content", "value", "result", "message", "response"];
const CONFIDENCES: readonly Confidence[] = ["high", "medium", "low"];

/** The final of a reply, or null. `fields` are the reply's own, for an answer next to `final`. An empty answer next to
 * code is a filled-in form, not an answer. */
export function normaliseFinal(
  final: unknown,
  { fields, hasCode, repairs }: { readonly fields: ReplyFields; readonly hasCode: boolean; readonly repairs: string[] },
): ReplyFinal | null {
  const found = answerIn(final, repairs) ?? answerBeside(fields, repairs);
  if (found === null) return null;
  if (found.answer.trim() === "" && hasCode) {
    repairs.push("ignored an empty final beside code");
    return null;
  }
  return {
    answer: found.answer,
    answerType: answerType(pick(found.fields, ["answertype", "type"]), repairs),
    confidence: confidence(pick(found.fields, ["confidence"]), repairs),
  };
}

function answerIn(final: unknown, repairs: string[]): { readonly answer: string; readonly fields: ReplyFields } | null {
  if (final === undefined || final === null || typeof final === "boolean") return null;
  if (typeof final !== "object") {
    repairs.push("took a final that was not an object as the answer");
    return { answer: String(final), fields: fieldsOf({}) };
  }
  const fields = fieldsOf(final);
  repairs.push(...fields.renamed);
  const answer = pick(fields, ANSWER);
  if (answer !== undefined) {
    if (typeof answer !== "string") repairs.push("took an answer that was not a string as text");
    return { answer: plainText(answer), fields };
  }
  const others = [...fields.entries.keys()].filter((key) => !["answertype", "confidence", ...ANSWER].includes(key));
  if (others.length === 0 && !Array.isArray(final)) return null;
  repairs.push("took final without an answer as the answer");
  return { answer: plainText(final), fields };
}

function answerBeside(
  fields: ReplyFields,
  repairs: string[],
): { readonly answer: string; readonly fields: ReplyFields } | null {
  const answer = pick(fields, ["answer"]);
  if (answer === undefined) return null;
  repairs.push("took answer outside of final");
  return { answer: plainText(answer), fields };
}

function answerType(value: unknown, repairs: string[]): AnswerType {
  if (value === undefined) return "markdown";
  const name = plainText(value).toLowerCase();
  if (name !== "text" && name !== "markdown") repairs.push("read answerType as text or markdown");
  return /text|plain/.test(name) ? "text" : "markdown";
}

function confidence(value: unknown, repairs: string[]): Confidence {
  if (value === undefined) return "high";
  const name = plainText(value).trim().toLowerCase();
  const found = CONFIDENCES.find((one) => one === name);
  if (found) return found;
  repairs.push("read confidence as high, medium or low");
  const number = name.endsWith("%") ? Number(name.slice(0, -1)) / 100 : Number(name);
  if (!Number.isFinite(number) || name === "") return CONFIDENCES.find((one) => name.includes(one)) ?? "medium";
  return number >= 0.8 ? "high" : number >= 0.5 ? "medium" : "low";
}
