import { HostCallError } from "../domain/errors.ts";
import { Semaphore } from "../domain/kit/concurrency.ts";
import { oneLine, visibleText } from "../domain/kit/text.ts";
import type { CallOutcome } from "../domain/query/calls.ts";
import type { Log } from "../logging/log.ts";
import { scopeOf } from "./active.ts";
import { signatureOf } from "./signatures.ts";
import type { Before, EnvironmentView, Extension, FunctionSymbol } from "./spec.ts";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";

export interface Invocation {
  readonly extension: Extension;
  readonly symbol: FunctionSymbol;
  readonly env: EnvironmentView;
  readonly args: readonly unknown[];
  readonly log: Log;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Gets how the call turned out, if the function says so. */
  readonly told?: ((outcome: CallOutcome) => void) | undefined;
}

/** What running calls may hold in the heap of the main process, over all conversations. */
const ROOM = new Semaphore(160 << 20);

type Call = Parameters<Before>[0];
const MAX_REASON = 500;
const OUTCOME_CHARS = 80;
const OUTPUT_LINES = 10, OUTPUT_CHARS = 1_000;
/** A list of a million wrong items must not become a million faults. */
const FIRST_FAULTS = { abortEarly: true, reportInput: false };
type HookName = "before" | "after" | "onError";
type Changes = Exclude<ReturnType<Before>, Promise<unknown>>;

const KEYS: Readonly<Record<HookName, string>> = {
  before: "env, fn, args, result",
  after: "env, fn, args, result",
  onError: "env, fn, args, result, error",
};

/** Calls a function symbol through its hooks: before, arguments, fn, after. onError wraps only the function. Throws
 * only HostCallError, whose message is fit for the model. */
export async function invokeSymbol(invocation: Invocation): Promise<unknown> {
  const { now } = invocation;
  const start = now();
  note(invocation, "debug", { phase: "start" });
  try {
    const result = await pipeline(invocation);
    const ms = since(start, now);
    note(invocation, "debug", { phase: "end", ms });
    const { log, extension, symbol } = invocation;
    tell(invocation, result);
    log.call?.({ ext: extension.namespace, sym: symbol.name, ms, ...scopeOf(invocation.env) });
    return result;
  } catch (error) {
    note(invocation, "warn", { phase: "throw", ms: since(start, now), error: messageOf(error) });
    throw asHostCallError(error, invocation);
  }
}

/** An outcome that cannot be told does not fail the call. */
function tell({ symbol, told, log, extension, env }: Invocation, result: unknown): void {
  if (!symbol.outcome || !told) return;
  try {
    const said = symbol.outcome(result);
    const { text, ok = true, output = "" } = typeof said === "object" ? said : { text: said };
    told({ text: oneLine(visibleText(String(text)), OUTCOME_CHARS), ok, output: ok ? "" : endOf(String(output)) });
  } catch (error) {
    const { namespace: ext } = extension;
    log.warn("extension.failed", { ext, phase: "outcome", error: messageOf(error), ...scopeOf(env) });
  }
}

/** The last lines of an output, as a terminal would show them without colours: what a line printed over is left out. */
function endOf(output: string): string {
  const plain = stripVTControlCharacters(output.slice(-8 * OUTPUT_CHARS)).replaceAll("\r\n", "\n");
  const lines = plain.split("\n").map((line) => line.trimEnd().split("\r").at(-1) ?? "");
  const text = visibleText(lines.join("\n").trimEnd().split("\n").slice(-OUTPUT_LINES).join("\n"));
  return text.length <= OUTPUT_CHARS ? text : `…${text.slice(-OUTPUT_CHARS).replace(/^[\udc00-\udfff]/, "")}`;
}

async function pipeline(invocation: Invocation): Promise<unknown> {
  const { symbol } = invocation;
  let call: Call = { env: invocation.env, fn: symbol.fn, args: invocation.args };
  if (symbol.before) {
    const changes = await runHook("before", invocation, symbol.before, call);
    call = merged(call, changes);
    if (Object.hasOwn(changes, "result")) return changes.result;
  }
  call = await checked(invocation, call);
  const room = typeof symbol.room === "function" ? symbol.room(...call.args) : symbol.room ?? 0;
  const outcome = room === 0
    ? await run(invocation, call)
    : await ROOM.runAmount(room, { work: () => run(invocation, call), signal: invocation.env.signal });
  if (!symbol.after) return outcome.result;
  const changes = await runHook("after", invocation, symbol.after, { ...outcome.call, result: outcome.result });
  return Object.hasOwn(changes, "result") ? changes.result : outcome.result;
}

/** Calls the function. If it fails, onError decides: a fallback, another error, one retry, or the same error. */
async function run(invocation: Invocation, call: Call): Promise<{ readonly call: Call; readonly result: unknown }> {
  try {
    return { call, result: await call.fn(call.env, ...call.args) };
  } catch (error) {
    const { onError } = invocation.symbol;
    if (!onError) throw error;
    note(invocation, "warn", { phase: "onError", error: messageOf(error) });
    const changes = await runHook("onError", invocation, onError, { ...call, error });
    if (Object.hasOwn(changes, "result")) return { call: merged(call, changes), result: changes.result };
    if (Object.hasOwn(changes, "error")) throw changes.error;
    if (changes.fn === undefined && changes.args === undefined) throw error;
    const next = merged(call, changes);
    const again = changes.args === undefined ? next : await checked(invocation, next);
    note(invocation, "info", { phase: "retry" });
    return { call: again, result: await again.fn(again.env, ...again.args) };
  }
}

async function runHook<Input extends object>(
  name: HookName,
  invocation: Invocation,
  hook: (input: Input) => unknown,
  input: Input,
): Promise<Changes> {
  const start = invocation.now();
  let changes: unknown;
  try {
    changes = await hook(input);
  } catch (error) {
    if ("error" in input && input.error === error) throw error;
    throw hookError(name, invocation, { why: messageOf(error), cause: error });
  }
  note(invocation, "debug", { phase: name, ms: since(start, invocation.now) });
  if (isChanges(changes)) return changes;
  throw hookError(name, invocation, { why: `it must return an object of ${KEYS[name]}, not ${kindOf(changes)}` });
}

function isChanges(value: unknown): value is Changes {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { env, fn, args } = value as Readonly<Record<string, unknown>>;
  return (env === undefined || (typeof env === "object" && env !== null)) &&
    (fn === undefined || typeof fn === "function") && (args === undefined || Array.isArray(args));
}

function merged(call: Call, changes: Changes): Call {
  return { env: changes.env ?? call.env, fn: changes.fn ?? call.fn, args: changes.args ?? call.args };
}

async function checked(invocation: Invocation, call: Call): Promise<Call> {
  const { symbol, extension } = invocation;
  const parsed = await symbol.args.safeParseAsync(call.args, FIRST_FAULTS);
  if (parsed.success) return { ...call, args: Array.isArray(parsed.data) ? parsed.data : [parsed.data] };
  const { alias } = extension.alias;
  const reasons = parsed.error.issues.slice(0, 3).map(reasonOf).join("; ");
  throw new HostCallError(
    `Cannot call ${alias}.${symbol.name}: ${reasons}; usage: ${signatureOf(alias, symbol)}`,
    { namespace: extension.namespace, symbol: symbol.name },
  );
}

function reasonOf(issue: z.core.$ZodIssue): string {
  const [first, ...deeper] = issue.path;
  if (issue.code === "invalid_union") return unionReason(issue);
  if (issue.code === "too_small" && typeof first !== "number") {
    return `too small: expected >=${issue.minimum} arguments`;
  }
  if (issue.code === "too_big" && typeof first !== "number") return `too big: expected <=${issue.maximum} arguments`;
  const message = `${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1, MAX_REASON)}`;
  if (typeof first !== "number") return message;
  return [`argument ${first + 1}`, ...deeper.map(String)].join(".") + `: ${message}`;
}

/** The reason of the alternative of the same type as what was given; if there is none, the types of all. */
function unionReason({ errors, message, path }: z.core.$ZodIssueInvalidUnion): string {
  const kinds = errors.map(([first]) => first?.code === "invalid_type" && first.path.length === 0 ? first : null);
  const fitting = errors[kinds.indexOf(null)]?.[0];
  if (fitting) return reasonOf({ ...fitting, path: [...path, ...fitting.path] });
  const expected = [...new Set(kinds.flatMap((kind) => kind?.expected ?? []))].join(" or ");
  const text = expected === "" ? message : `${message}: expected ${expected}`;
  return reasonOf({ code: "custom", path: [...path], message: text, input: undefined });
}

function hookError(
  name: HookName,
  { extension, symbol }: Invocation,
  { why, cause }: { readonly why: string; readonly cause?: unknown },
): HostCallError {
  return new HostCallError(
    `Cannot finish ${extension.alias.alias}.${symbol.name}: its ${name} hook failed: ${why}`,
    { namespace: extension.namespace, symbol: symbol.name },
    { cause },
  );
}

function asHostCallError(error: unknown, { extension, symbol, env }: Invocation): HostCallError {
  if (error instanceof HostCallError) return error;
  const call = `${extension.alias.alias}.${symbol.name}`;
  const facts = { namespace: extension.namespace, symbol: symbol.name };
  if (env.signal?.aborted) return new HostCallError(`Cannot finish ${call}: it was aborted`, facts, { cause: error });
  const hint = error instanceof Error && "hint" in error && typeof error.hint === "string" ? { hint: error.hint } : {};
  return new HostCallError(messageOf(error) || `Cannot finish ${call}`, { ...facts, ...hint }, { cause: error });
}

function note(
  { log, extension, symbol, env }: Invocation,
  level: "debug" | "info" | "warn",
  data: { readonly phase: string; readonly ms?: number; readonly error?: string },
): void {
  log[level]("extension.call", { ext: extension.namespace, sym: symbol.name, ...data, ...scopeOf(env) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : kindOf(error);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object with wrong keys" : typeof value === "string" ? value : String(value);
}

function since(start: number, now: () => number): number {
  return Math.round((now() - start) * 1000) / 1000;
}
