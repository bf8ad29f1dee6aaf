import { jsonrepair } from "jsonrepair";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import { counted, oneLine } from "../../domain/kit/text.ts";
import {
  fieldsOf,
  isNoOp,
  MAX_BLOCKS,
  normaliseReply,
  type ParsedReply,
  type Reply,
  type ReplyFault,
} from "./reply.ts";
import { type Fence, findFences, isCode, scanJson, takeThinking } from "./think_parts.ts";

const SHAPE = 'Expected one JSON object: {"thinking": "…", "code": [{"expr": "…", "timeMs": 3000}]} to work, ' +
  'or {"final": {"answer": "…"}} to finish';
const START =
  /(?:\[\s*)?\{\s*["'“]?(?:thinking|thoughts?|reasoning|code|code_?blocks|blocks|next|final|final_?answer|answer|expr)["'”]?\s*:/gi;
const ESCAPED_START = /\{\s*\\"(?:thinking|code|final|answer|expr)\\"\s*:/i;
const MAX_STARTS = 40;
const MAX_OTHER_STARTS = 8;
/** Vis reads no more candidates once the candidates have more than this number of characters together. */
const MAX_CANDIDATE_CHARS = 2_500_000;
const MAX_LIBRARY = 2;
const TOOL_CALL =
  /\bto=functions\.|\[TOOL_CALLS\]|<\/?(?:tool_call|function_calls?|invoke|tool_use)\b|<[|｜](?:tool|python_tag|plugin)|"(?:tool_calls?|function_call|tool_name)"|"(?:arguments|tool|tool_input)"\s*:/;

interface BesideText {
  readonly reasoning: string;
  readonly toolCall: string | null;
}

const NATIVE_CALL = /^<tool_call>([\w.:-]+(?:\([\s\S]*)?)<\/tool_call>$/;

/** Vis stores a reply that has only a tool call as this text, which `parseReply` reads like the reply. */
export function nativeCallText(toolCall: string): string {
  return `<tool_call>${toolCall}</tool_call>`;
}

/** Does not throw. */
export function parseReply(text: string, beside: BesideText = { reasoning: "", toolCall: null }): ParsedReply {
  const found = replyIn(text);
  const native = beside.toolCall ?? NATIVE_CALL.exec(text)?.[1] ?? null;
  const call = native === null ? null : oneLine(native, 200);
  if (!found.ok) {
    if (call !== null) return failure("tools", `The reply calls ${call}, but ${NO_TOOLS}`);
    return found.fault === "empty" && beside.reasoning !== "" ? failure("thinking", ONLY_THOUGHTS) : found;
  }
  const { reply } = found;
  if (reply.code.length > MAX_BLOCKS) {
    return failure(
      "json",
      `The reply has more than ${MAX_BLOCKS} blocks; none ran. Put what belongs together into one`,
    );
  }
  if (call === null) return found;
  return {
    ok: true,
    reply: { ...reply, repairs: [...reply.repairs, `ignored a call of ${call}: there are no tools`] },
  };
}

function replyIn(text: string): ParsedReply {
  const strict = parsed(text);
  if (strict !== undefined) return fromStrict(strict);
  const { thinking, body: unquoted, unclosed } = takeThinking(text.replace(/^\ufeff/, ""));
  const body = plainQuotes(unquoted);
  if (["", "null", "undefined"].includes(body.trim())) {
    if (unclosed !== "") {
      return failure("thinking", `The thinking that ${unclosed} begins has no end, so nothing of the reply counts`);
    }
    return thinking === ""
      ? failure("empty", `The reply was ${body.trim() || "empty"}`)
      : failure("thinking", ONLY_THOUGHTS);
  }
  const inner = thinking === "" ? undefined : parsed(body);
  const fences = findFences(body);
  const found = (inner === undefined ? null : replyOf(inner)) ?? fromObjects(body, fences);
  if (found && "reason" in found) return failure(found.fault, found.reason);
  const reply = found ?? fromFences(body, fences);
  if (reply) {
    const isText = found === null && (reply.thinking + body.slice(fences.at(-1)?.end ?? 0)).trim() !== "";
    return {
      ok: true,
      reply: reply.thinking === "" ? { ...reply, thinking } : reply,
      ...isText ? { prose: unquoted.trim() } : {},
    };
  }
  const read = unreadable(body, fences);
  return !read.ok && read.fault === "text" ? { ...read, prose: unquoted.trim() } : read;
}

function failure(fault: ReplyFault, reason: string): ParsedReply {
  return { ok: false, reason: `${reason}. ${SHAPE}`, fault };
}

/** Three successive quotes do not occur in valid JSON, so they delimit a long string of Python. */
function plainQuotes(text: string): string {
  return text.includes('"""') ? text.replace(/"""([\s\S]*?)"""/g, (_, inner: string) => JSON.stringify(inner)) : text;
}

function parsed(text: string): unknown {
  return /^\s*[{["]/.test(text) ? jsonOrUndefined(text) : undefined;
}

function fromStrict(value: unknown): ParsedReply {
  const reply = replyOf(value);
  if (reply && "reason" in reply) return failure(reply.fault, reply.reason);
  if (reply) return { ok: true, reply };
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) {
    const next = { model: null, reasoning: null };
    return { ok: true, reply: { thinking: "", code: [], next, final: null, repairs: [] } };
  }
  const keys = typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
  if (TOOL_CALL.test(keys.map((key) => `"${key}":`).join())) return imitation(JSON.stringify(value));
  const has = keys.length > 0 ? `; it has ${oneLine(keys.slice(0, 10).join(", "), 120)}` : "";
  return failure("json", `The JSON has none of the fields thinking, code, next and final${has}`);
}

const ONLY_THOUGHTS = "The reply held thinking only and nothing to run or to answer";
const NO_TOOLS = "there are no tools: write TypeScript in code";
const TOOL_NAME =
  /"(?:name|tool_name|tool|function|action)"\s*:\s*"([^"\\]{1,80})"|<(?:invoke|function|tool_use)\b[ =]+(?:name=)?["']?([\w.:-]{1,80})|\bto=(?:functions\.)?([\w.:-]{1,80})/;

function imitation(text: string): ParsedReply {
  const name = TOOL_NAME.exec(text)?.slice(1).find((group) => group !== undefined);
  return failure("tools", `The reply imitates a tool call${name ? ` (${oneLine(name, 80)})` : ""}, but ${NO_TOOLS}`);
}

interface Refused {
  readonly fault: ReplyFault;
  readonly reason: string;
}

const TWO_STEPS =
  "The reply has code in one JSON object and an answer in a later one; nothing ran. Send the code alone, " +
  "and the answer once its results are shown";

function acts({ code, final }: Reply): boolean {
  return code.length > 0 || final !== null;
}

function replyOf(value: unknown): Reply | Refused | null {
  const reply = normaliseReply(value);
  if (reply === null || !Array.isArray(value)) return reply;
  const items = value.slice(0, MAX_STARTS).map((item) => fieldsOf(item).has(["expr"]) ? null : normaliseReply(item));
  const acting = items.filter((item) => item !== null).filter(acts);
  return acting.length > 1 ? lastOf(acting) : acting[0] ? { ...acting[0], repairs: reply.repairs } : reply;
}

/** The last complete reply counts, because earlier replies may be drafts or examples. An answer after code is refused,
 * because it cannot depend on results of this code. */
function lastOf(replies: readonly Reply[]): Reply | Refused | null {
  const last = replies.at(-1);
  if (last === undefined) return null;
  const others = replies.slice(0, -1).filter((one) => !isSame(one, last));
  if (others.length === 0) return last;
  if (last.code.length === 0 && others.some(({ code }) => code.length > 0)) {
    return { fault: "json", reason: TWO_STEPS };
  }
  const repair = `only the last of ${others.length + 1} JSON objects counted; send one`;
  return { ...last, repairs: [repair, ...last.repairs] };
}

function isSame(one: Reply, other: Reply): boolean {
  return JSON.stringify([one.code, one.final]) === JSON.stringify([other.code, other.final]);
}

const NEXT_TURN =
  /<[|｜](?:im_(?:end|start)|end|endoftext|end_of_text|eot_id|eom_id|return|call|user|start\|>\s*(?:user|system|developer)|end▁of▁sentence|END_OF_TURN_TOKEN|message_user)|<\/s>|<end_of_turn>|<turn\|>|<seed:eos>|\[(?:EOS|EOT|INST)\]|^[ \t]*\[iter \d+\/\d+\]|<(?:journal|var_index|prior_thinking|attempts|notes)>|^[ \t]*(?:user|human|assistant|tool|system|results?|output|observation)[ \t]*:/im;

function fromObjects(body: string, fences: readonly Fence[]): Reply | Refused | null {
  let work = 0;
  let idle: Reply | null = null;
  let cut: number | null = null;
  let tried = 0;
  let end = 0;
  const found: Reply[] = [];
  for (const { start, named } of starts(body, fences)) {
    if (work > MAX_CANDIDATE_CHARS) break;
    if (start < end) continue;
    if (found.length > 0 && (!named || NEXT_TURN.test(body.slice(end, start)))) break;
    const read = readJson(body, { start, library: tried++ < MAX_LIBRARY });
    work += (read?.end ?? body.length) - start;
    const one = read && replyOf(read.value);
    if (one && "reason" in one) return one;
    const reply = read && complete(one, read);
    const does = reply !== null && acts(reply);
    if (read && !does && named && read.cutOff !== "no") cut ??= read.end - start;
    else if (!read || !reply) continue;
    else if (does) {
      const whole = withFences(reply, fences.filter((fence) => fence.end <= start && fence.start >= end));
      found.push(explained(idle ? withThinking(whole, idle) : whole, { body, start, read }));
      end = read.end;
    } else idle ??= explained(reply, { body, start, read });
  }
  if (cut !== null && (found.length > 0 || idle === null)) {
    const advice = "Keep it shorter: fewer blocks, and answer(value) for a long answer";
    const reason =
      `A JSON object of the reply was cut off after ${cut} characters, before any code or answer was complete. ${advice}`;
    return { fault: "cut", reason };
  }
  return lastOf(found) ?? idle ?? escapedObject(body);
}

/** An answer without code belongs to the fenced code before it, if the fence names its language. */
function withFences(reply: Reply, before: readonly Fence[]): Reply {
  const code = blocksOf(before.filter((fence) => fence.closed && fence.language !== "" && isCode(fence)));
  if (reply.code.length > 0 || code.length === 0) return reply;
  return { ...reply, code, repairs: [FENCED, ...reply.repairs] };
}

function withThinking(reply: Reply, idle: Reply): Reply {
  return { ...reply, thinking: reply.thinking || idle.thinking, repairs: ["joined two objects", ...reply.repairs] };
}

interface Start {
  readonly start: number;
  readonly named: boolean;
}

/** A brace at the beginning of the text comes first, braces before the name of a field second, and others last. */
function* starts(body: string, fences: readonly Fence[]): Generator<Start> {
  const first = /^\s*(?:[`~]{3,}\w*\s*)?(?=\{|\[\s*\{)/.exec(body)?.[0].length ?? -1;
  const inCode = (at: number) => fences.some((fence) => fence.start <= at && at < fence.end && isCode(fence));
  const named = [...body.matchAll(START).take(MAX_STARTS)].map(({ index }) => index).filter((at) => !inCode(at));
  if (first !== -1 && named[0] !== first && !inCode(first)) yield { start: first, named: false };
  for (const start of named) yield { start, named: true };
  let at = body.indexOf("{");
  for (let i = 0; at !== -1 && i < MAX_OTHER_STARTS; i++, at = body.indexOf("{", at + 1)) {
    if (at !== first && !named.includes(at) && !inCode(at)) yield { start: at, named: false };
  }
}

/** The last part may be incomplete, and Vis must not run incomplete code. */
function complete(reply: Reply | null, { cutOff }: RepairedJson): Reply | null {
  if (reply === null || cutOff !== "last-part-doubtful") return reply;
  return reply.final ? { ...reply, final: null } : { ...reply, code: reply.code.slice(0, -1) };
}

function explained(
  reply: Reply,
  { body, start, read }: { readonly body: string; readonly start: number; readonly read: RepairedJson },
): Reply {
  const before = body.slice(0, start).trim();
  const after = body.slice(read.end).trim();
  const repairs = [...read.repairs, ...reply.repairs];
  if (/^[`~]{3,}\s*\w*$/.test(before)) repairs.unshift("took the JSON out of a fence");
  else if (before !== "") repairs.unshift("took the JSON object out of other text");
  const rest = after.replace(/^[`~]{3,}\s*/, "");
  if (rest !== "") repairs.push(`cut ${counted(rest.length, "character")} after the reply`);
  return { ...reply, repairs };
}

/** A model may escape the arguments of an imitated tool call twice. */
function escapedObject(body: string): Reply | null {
  const start = body.search(ESCAPED_START);
  if (start === -1) return null;
  const end = /^(?:[^"\\]|\\[\s\S])*/.exec(body.slice(start, start + 200_000))?.[0].length ?? 0;
  const text = parsed(`"${body.slice(start, start + end)}"`);
  const reply = typeof text === "string" ? normaliseReply(text) : null;
  return reply && { ...reply, repairs: ["took the JSON object out of other text", ...reply.repairs] };
}

const FENCED = "took fenced code as blocks";
const TYPESCRIPT = new Set(["ts", "typescript", "js", "javascript"]);

function isNamed(code: readonly Fence[]): boolean {
  return code.every(({ language }) => TYPESCRIPT.has(language));
}

function fromFences(body: string, fences: readonly Fence[]): Reply | null {
  const code = fences.filter((fence) => fence.closed && isCode(fence));
  if (code.length === 0) return null;
  const blocks = blocksOf(code);
  if (blocks.length === 0) return null;
  let prose = "";
  let at = 0;
  for (const fence of code) {
    prose += body.slice(at, fence.start);
    at = fence.end;
  }
  const isText = (prose + body.slice(at)).trim() !== "";
  if (isText && blocks.every(({ expr }) => onlyLinks(expr))) return null;
  const cut = fences.some((fence) => !fence.closed) ? ["the reply was cut off: its last fence was dropped"] : [];
  return {
    thinking: prose.slice(0, 4_000).trim(),
    code: blocks,
    next: { model: null, reasoning: null },
    final: null,
    repairs: [...isNamed(code) ? [] : [FENCED], ...cut],
  };
}

const LINK =
  /\b(?:import\b[^"'`();=]*|export\s*[{*][^"'`();=]*\bfrom\s*)["'][^"'\n]*["'];?|\bexport\s*\{[^{}"'`();=]*\};?/g;
const MAX_LINKS_CHARS = 4_000;

/** A block cannot link modules, so such a fence in a text is an example. */
function onlyLinks(expr: string): boolean {
  if (expr.length > MAX_LINKS_CHARS) return false;
  const rest = expr.replace(LINK, "");
  return rest !== expr && rest.replace(/\/\/.*|\/\*[^]*?\*\//g, "").trim() === "";
}

function blocksOf(code: readonly Fence[]): Reply["code"] {
  return code.map(({ content }) => content.replaceAll("\r\n", "\n").trim()).filter((text) => !isNoOp(text))
    .map((expr) => ({ expr, timeMs: null }));
}

function unreadable(body: string, fences: readonly Fence[]): ParsedReply {
  if (fences.some((fence) => !fence.closed && isCode(fence))) {
    return failure("cut", "The reply was cut off inside a code fence");
  }
  if (TOOL_CALL.test(body)) return imitation(body.slice(0, 20_000));
  const start = body.search(START);
  const begins = `it begins "${oneLine(body, 80)}"`;
  if (start === -1) {
    return failure(
      "text",
      `The reply has no JSON object of the expected form, and no TypeScript code to run: ${begins}`,
    );
  }
  return failure("json", `The JSON object in the reply cannot be read: ${syntaxError(body.slice(start))}`);
}

function syntaxError(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error) return oneLine(error.message, 200);
  }
  return "its fields are not those of a reply";
}

interface RepairedJson {
  readonly value: unknown;
  readonly end: number;
  readonly repairs: readonly string[];
  /** With "last-part-doubtful", the caller must drop the last part. */
  readonly cutOff: "no" | "dropped" | "last-part-doubtful";
}

/** For bare quotes, the repair library takes quadratic time. */
const MAX_REPAIR_CHARS = 20_000;
const CUT_OFF = "the reply was cut off: its last, incomplete part was dropped";

function readJson(
  text: string,
  { start, library }: { readonly start: number; readonly library: boolean },
): RepairedJson | null {
  const { end } = scanJson(text, start);
  if (end === -1) return readOpen(text, { start, library });
  const slice = text.slice(start, end);
  const strict = parse(slice);
  if (strict) return { ...strict, end, repairs: [], cutOff: "no" };
  const repaired = repairStrings(slice);
  const read = parse(repaired);
  if (read) return { ...read, end, repairs: ["escaped characters inside strings"], cutOff: "no" };
  return readToLastBracket(text, start) ?? (library ? repair(repaired, end) : null);
}

function readOpen(
  text: string,
  { start, library }: { readonly start: number; readonly library: boolean },
): RepairedJson | null {
  const slice = text.slice(start);
  const repaired = repairStrings(slice);
  const finished = /[}\]]\s*(?:`{3,}\s*)?$/.test(slice.slice(-200));
  if (finished) {
    const last = Math.max(repaired.lastIndexOf("}"), repaired.lastIndexOf("]")) + 1;
    const whole = readToLastBracket(text, start) ?? (library ? repair(repaired.slice(0, last), text.length) : null);
    if (whole) return whole;
  }
  const closed = parse(scanJson(repaired, 0).closed());
  if (closed) return { ...closed, end: text.length, repairs: [CUT_OFF], cutOff: "dropped" };
  const guessed = library ? repair(repaired, text.length) : null;
  return guessed && { ...guessed, repairs: [...guessed.repairs, CUT_OFF], cutOff: "last-part-doubtful" };
}

/** Bare quotes hide the end of a value, so the last bracket of the text counts as the end. */
function readToLastBracket(text: string, start: number): RepairedJson | null {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  const read = end > start ? parse(repairStrings(repairQuotes(text.slice(start, end)))) : null;
  return read && { ...read, end, repairs: ["escaped bare quotes inside strings"], cutOff: "no" };
}

function repair(text: string, end: number): RepairedJson | null {
  if (text.length > MAX_REPAIR_CHARS) return null;
  try {
    const read = parse(jsonrepair(text));
    return read && { ...read, end, repairs: ["repaired the JSON"], cutOff: "no" };
  } catch {
    return null;
  }
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

const TOKEN = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])|\\\r?\n|\\(.?)|"|\r\n|\p{Cc}/gu;

/** The repair library drops a backslash that is invalid in JSON, as in a pattern or a Windows path, so `repairStrings`
 * doubles it. */
function repairStrings(text: string): string {
  let inside = false;
  return text.replace(TOKEN, (token: string, escaped: string | undefined) => {
    if (token === '"') {
      inside = !inside;
      return token;
    }
    if (token.startsWith("\\")) {
      if (escaped === "'" && inside) return "'";
      if (escaped !== undefined) return `\\\\${escaped}`;
      return token.endsWith("\n") ? "\\n" : token;
    }
    if (!inside) return token;
    if (token === "\n" || token === "\r\n") return "\\n";
    if (token === "\t") return "\\t";
    return `\\u${token.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

const NAMES = "thinking|code|next|final|expr|time_?ms|model|reasoning|answer|answer_?type|confidence";
const ENDS = new RegExp(
  `"\\s{0,99}(?:[}\\]]\\s{0,99}(?:[,}\\]]|$)|,\\s{0,99}(?:"(?:${NAMES})"\\s{0,9}:|\\{\\s{0,99}")|$)`,
  "iy",
);
const ENDS_NAME = /"\s{0,99}:/y;

function repairQuotes(text: string): string {
  let out = "";
  let from = 0;
  let before = "";
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', from)) {
    out += text.slice(from, at + 1);
    before = lastSign(text.slice(from, at)) || before;
    const end = closing(text, { from: at + 1, name: before === "{" || before === "," });
    if (end === -1) return out + text.slice(at + 1);
    out += text.slice(at + 1, end).replace(/\\[\s\S]|"/g, (token) => token === '"' ? '\\"' : token) + '"';
    from = end + 1;
    before = "";
  }
  return out + text.slice(from);
}

function lastSign(text: string): string {
  return text.trimEnd().at(-1) ?? "";
}

function closing(text: string, { from, name }: { readonly from: number; readonly name: boolean }): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === '"' && ends(text, { at, name })) return at;
  }
  return -1;
}

function ends(text: string, { at, name }: { readonly at: number; readonly name: boolean }): boolean {
  ENDS.lastIndex = ENDS_NAME.lastIndex = at;
  return ENDS.test(text) || name && ENDS_NAME.test(text);
}
