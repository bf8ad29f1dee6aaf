import { jsonOrUndefined, readable } from "../../domain/kit/json.ts";
import type { AnswerType, Confidence } from "../../domain/query/query_schemas.ts";
import type { ReasoningLevel } from "../../providers/provider.ts";

export interface ReplyBlock {
  readonly expr: string;
  readonly timeMs: number | null;
}

export interface ReplyFinal {
  readonly answer: string;
  readonly answerType: AnswerType;
  readonly confidence: Confidence;
}

export interface Reply {
  readonly thinking: string;
  readonly code: readonly ReplyBlock[];
  readonly next: {
    readonly model: "cost" | "speed" | "intelligence" | null;
    readonly reasoning: ReasoningLevel | null;
  };
  readonly final: ReplyFinal | null;
  readonly repairs: readonly string[];
}

/** "thinking" means only thinking, "tools" a tool call, "text" no usable form, "json" JSON that Vis cannot use, and
 * "cut" an incomplete reply. */
export type ReplyFault = "empty" | "thinking" | "tools" | "text" | "json" | "cut";

export type ParsedReply =
  | {
    readonly ok: true;
    readonly reply: Reply;
    /** The whole text, without thinking, of a reply with text and fences. */
    readonly prose?: string;
  }
  | {
    readonly ok: false;
    readonly reason: string;
    readonly fault: ReplyFault;
    /** The text of a reply with the fault "text", without thinking. */
    readonly prose?: string;
  };

const THINKING = ["thinking", "thought", "thoughts", "reasoning"];
const CODE = ["code", "blocks", "codeblocks"];
const EXPR = ["expr", "code", "expression", "source", "typescript", "javascript", "ts", "js"];
const TIME = ["timems", "timeoutms", "timeout", "time", "ms"];
const FINAL = ["final", "finalanswer"];
const WRAPPERS = new Set(
  "reply response output result arguments args input parameters params function functioncall toolcall toolcalls actioninput json data object"
    .split(" "),
);
const NO_OPS = new Set(["", "null", "undefined"]);
const MODELS = ["cost", "speed", "intelligence"] as const;
const REASONING = ["quick", "balanced", "deep"] as const;
const MAX_WRAPS = 5;
export const MAX_BLOCKS = 100;
const MAX_ITEMS = 10 * MAX_BLOCKS;

export function isNoOp(code: string): boolean {
  return NO_OPS.has(code.trim());
}

export function normaliseReply(value: unknown): Reply | null {
  return normalise(value, { repairs: [], depth: 0 });
}

function normalise(value: unknown, at: { readonly repairs: readonly string[]; readonly depth: number }): Reply | null {
  if (at.depth > MAX_WRAPS) return null;
  const { repairs } = at;
  if (typeof value === "string") {
    const inner = /^\s*[{[]/.test(value) ? jsonOrUndefined(value) : undefined;
    return inner === undefined
      ? null
      : normalise(inner, { repairs: [...repairs, "parsed a reply inside a string"], depth: at.depth + 1 });
  }
  if (Array.isArray(value)) return fromArray(value, at);
  if (typeof value !== "object" || value === null) return null;
  const fields = fieldsOf(value);
  const notes = [...repairs, ...fields.renamed];
  if (fields.has(["expr"]) && !fields.has(CODE)) {
    return reply(fields, { code: [value], notes: [...notes, "took one block as the whole reply"] });
  }
  const known = fields.has(THINKING) || fields.has(CODE) || fields.has(FINAL) || fields.has(["answer", "next"]);
  if (!known) return unwrapped(fields, { ...at, repairs: notes });
  return reply(fields, { code: pick(fields, CODE), notes });
}

function fromArray(items: readonly unknown[], at: { readonly repairs: readonly string[]; readonly depth: number }) {
  const objects = items.slice(0, MAX_ITEMS).filter((item) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
  );
  const blocks = objects.filter((item) => fieldsOf(item).has(["expr"]));
  if (blocks.length > 0 && blocks.length === objects.length) {
    const notes = [...at.repairs, "took an array of blocks as the reply"];
    return reply(fieldsOf({}), { code: items, notes });
  }
  for (const item of objects.slice(0, 10)) {
    const found = normalise(item, { repairs: [...at.repairs, "took the reply out of an array"], depth: at.depth + 1 });
    if (found) return found;
  }
  return null;
}

function unwrapped(
  fields: ReplyFields,
  at: { readonly repairs: readonly string[]; readonly depth: number },
): Reply | null {
  for (const [key, value] of fields.entries) {
    if (!WRAPPERS.has(key)) continue;
    const repairs = [...at.repairs, `took the reply out of "${key}"`];
    const found = normalise(value, { repairs, depth: at.depth + 1 });
    if (found) return found;
  }
  return null;
}

function reply(
  fields: ReplyFields,
  { code, notes }: { readonly code: unknown; readonly notes: readonly string[] },
): Reply {
  const repairs = [...notes];
  const blocks = blocksOf(code, repairs);
  const hasCode = blocks.length > 0;
  return {
    thinking: plainText(pick(fields, THINKING)),
    code: blocks,
    next: nextOf(pick(fields, ["next"]), repairs),
    final: normaliseFinal(pick(fields, FINAL), { fields, hasCode, repairs }),
    repairs: [...new Set(repairs)],
  };
}

function blocksOf(code: unknown, repairs: string[]): ReplyBlock[] {
  if (code === undefined || code === null) return [];
  if (typeof code === "string") {
    const inner = /^\s*(?:\[\s*\{|\{\s*"expr")/.test(code) ? jsonOrUndefined(code) : undefined;
    repairs.push("took code that was not an array of blocks");
    return blocksOf(inner ?? [code], repairs);
  }
  if (!Array.isArray(code)) {
    repairs.push("took one block that was not in an array");
    return blocksOf([code], repairs);
  }
  return code.slice(0, MAX_ITEMS).flatMap((item: unknown, at) => blockOf(item, { at, repairs }));
}

function blockOf(item: unknown, { at, repairs }: { readonly at: number; readonly repairs: string[] }): ReplyBlock[] {
  if (item === null || item === undefined) return [];
  let expr: unknown = item;
  let time: unknown = null;
  if (typeof item === "string") repairs.push("took a bare string as a block");
  else if (typeof item === "object") {
    const fields = fieldsOf(item);
    repairs.push(...fields.renamed);
    expr = pick(fields, EXPR);
    time = pick(fields, TIME);
    if (Array.isArray(expr)) {
      repairs.push("joined the lines of a block");
      expr = expr.filter((line) => typeof line === "string").join("\n");
    }
    if (expr === null || expr === undefined) return [];
  }
  if (typeof expr !== "string") {
    repairs.push(`dropped block ${at + 1}: its code is not text`);
    return [];
  }
  // A backspace in code comes from a `\b` in a pattern that was not escaped for JSON.
  const text = expr.replaceAll("\b", "\\b");
  if (text !== expr) repairs.push("restored \\b in a block");
  return isNoOp(text) ? [] : [{ expr: text, timeMs: milliseconds(time, repairs) }];
}

function milliseconds(value: unknown, repairs: string[]): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isFinite(value) && value > 0 ? value : null;
  const [, digits, unit] = /^\s*(\d{1,12}(?:\.\d{1,6})?)\s*(ms|s|sec|seconds|m|min)?\s*$/i.exec(String(value)) ?? [];
  if (digits === undefined) return null;
  repairs.push("read timeMs from a string");
  const factor = !unit || /^ms$/i.test(unit) ? 1 : /^s/i.test(unit) ? 1_000 : 60_000;
  return Number(digits) * factor || null;
}

function nextOf(value: unknown, repairs: string[]): Reply["next"] {
  const none = { model: null, reasoning: null };
  if (value === null || value === undefined) return none;
  if (typeof value !== "object" || Array.isArray(value)) {
    repairs.push("ignored next: it is not an object");
    return none;
  }
  const fields = fieldsOf(value);
  const choose = <T extends string>(key: string, allowed: readonly T[]): T | null => {
    const chosen = pick(fields, [key]);
    if (chosen === null || chosen === undefined) return null;
    const found = allowed.find((one) => one === plainText(chosen).trim().toLowerCase());
    if (!found) repairs.push(`ignored next.${key}: not one of ${allowed.join(", ")}`);
    return found ?? null;
  };
  return {
    model: choose("model", MODELS),
    reasoning: choose("reasoning", REASONING),
  };
}

const ANSWER_FIELDS = ["answer", "text", "content", "value", "result", "message", "response"];
const CONFIDENCES: readonly NonNullable<Confidence>[] = ["high", "medium", "low"];

function normaliseFinal(
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
  const answer = pick(fields, ANSWER_FIELDS);
  if (answer !== undefined) {
    if (typeof answer !== "string") repairs.push("took an answer that was not a string as text");
    return { answer: plainText(answer), fields };
  }
  const others = [...fields.entries.keys()].filter((key) =>
    !["answertype", "confidence", ...ANSWER_FIELDS].includes(key)
  );
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
  if (value === undefined || value === null) return null;
  const name = plainText(value).trim().toLowerCase();
  const found = CONFIDENCES.find((one) => one === name);
  if (found) return found;
  repairs.push("read confidence as high, medium or low");
  const number = name.endsWith("%") ? Number(name.slice(0, -1)) / 100 : Number(name);
  if (!Number.isFinite(number) || name === "") return CONFIDENCES.find((one) => name.includes(one)) ?? "medium";
  return number >= 0.8 ? "high" : number >= 0.5 ? "medium" : "low";
}

/** A key of `entries` is a name from the reply, reduced to its letters from a to z in lower case. */
interface ReplyFields {
  readonly entries: ReadonlyMap<string, unknown>;
  readonly renamed: readonly string[];
  readonly has: (names: readonly string[]) => boolean;
}

const EXACT = new Set([
  "thinking",
  "code",
  "next",
  "final",
  "expr",
  "timeMs",
  "model",
  "reasoning",
  "answer",
  "answerType",
  "confidence",
]);
const LOWER = new Map([...EXACT].map((name) => [name.toLowerCase(), name]));
const MAX_KEYS = 200;

export function fieldsOf(value: unknown): ReplyFields {
  const entries = new Map<string, unknown>();
  const renamed: string[] = [];
  const own = typeof value === "object" && value !== null ? Object.keys(value).slice(0, MAX_KEYS) : [];
  for (const key of own) {
    const name = key.toLowerCase().replace(/[^a-z]/g, "");
    if (entries.has(name)) continue;
    entries.set(name, Object.getOwnPropertyDescriptor(value, key)?.value);
    const exact = LOWER.get(name);
    if (exact !== undefined && !EXACT.has(key)) renamed.push(`read "${key.slice(0, 40)}" as ${exact}`);
  }
  return { entries, renamed, has: (names) => names.some((name) => entries.has(name)) };
}

function pick(fields: ReplyFields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = fields.entries.get(name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join("\n");
  try {
    const text = readable(value);
    return text.startsWith("[object ") ? "" : text;
  } catch {
    return "";
  }
}
