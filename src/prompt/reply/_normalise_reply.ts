import { jsonOrUndefined } from "../../domain/text/json_or_undefined.ts";
import type { Reply, ReplyBlock } from "./reply.ts";
import { normaliseFinal } from "./_normalise_final.ts";
import { fieldsOf, pick, plainText, type ReplyFields } from "./_reply_fields.ts";

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
/** Of one reply. */
export const MAX_BLOCKS = 100;
/** Enough items to tell that there are too many blocks. */
const MAX_ITEMS = 10 * MAX_BLOCKS;

/** Whether a block does nothing: such a block is neither run nor stored. */
export function isNoOp(code: string): boolean {
  return NO_OPS.has(code.trim());
}

/** A reply from any JSON value, or null if it has none of a reply's fields. */
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
  // A backspace in code is the `\b` of a pattern that was not escaped for JSON.
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
