import { setImmediate as nextTurn } from "node:timers/promises";
import { Cancelled, ProviderError, type ProviderErrorCode } from "../domain/errors.ts";
import { blockResult } from "../domain/query/host_call.ts";
import { type ModelTrace, spentOn } from "../domain/query/model_call.ts";
import { PLAN_VARIABLE, planOf } from "../domain/query/plan.ts";
import type { BlockResult, QueryEventBody } from "../domain/query/query_schemas.ts";
import { valueOf } from "../environment/conversation_history.ts";
import { replyHint } from "../extension/habitual_calls.ts";
import type { StoredBlock } from "../persistence/store.ts";
import type { JournalEntry } from "../prompt/context_message.ts";
import { callMessages } from "../prompt/prompt.ts";
import type { ParsedReply, Reply, ReplyBlock } from "../prompt/reply/reply.ts";
import { ReplyStream } from "../prompt/reply/stream_reply.ts";
import type { ModelEvent, ModelMessage } from "../providers/provider.ts";
import type { RouterReply } from "../providers/router/router.ts";
import {
  type Executed,
  type Iterated,
  type IterationFault,
  type IterationFrame,
  type IterationInput,
  type IterationResult,
  type ModelCallOutcome,
  Recorder,
} from "./iteration.ts";
import { type Settled, settleFinal } from "./settle_final.ts";

const NO_NEXT: Reply["next"] = { model: null, reasoning: null };
const NOTHING: Executed = { entries: [], blocks: [], notes: [] };
const PLAN_BYTES = 64_000;
const NOT_RUN = "The reply to the last call has code, which does not run, and no answer";
const CUT = "The length limit of the model cut the reply";
const PROSE = "The model did not use the required format, so no code computed this answer";
const CUT_NOTE = "The length limit of the model cut your last reply: only its complete parts counted. Keep replies " +
  "shorter: fewer blocks, and answer(value) for a long answer";

export async function runIteration(frame: IterationFrame, input: IterationInput): Promise<Iterated> {
  const elapsed = stopwatch(frame);
  const { alternatingRoles } = frame.router.current().capabilities;
  const messages = callMessages(frame, { context: input.context, alternatingRoles });
  const announced = input.stored.then(() => announce(frame, input));
  announced.catch(() => {}); // If both fail, the caller gets the error of the model call.
  const { position, reasoning, prefer = null } = input;
  const asked = await askModel(frame, { messages, reasoning, prefer, position, announced }).catch((error: unknown) => {
    if (error instanceof Cancelled) return null;
    throw error;
  });
  await announced;
  if (asked === null) return cancelled(null);
  frame.emitter.send({ type: "usage", usage: asked.usage });
  const recorder = new Recorder(frame, { input, asked, messages });
  const ended = asked.parsed.ok
    ? await act(frame, { input, asked, reply: asked.parsed.reply, recorder })
    : await takeProse(frame, { input, asked, recorder }) ?? await giveUp(asked, { ...asked.parsed, recorder });
  const { result } = ended;
  if (result.kind === "cancelled") return ended;
  const reason = ("reason" in result ? result.reason : null) ?? (asked.cut ? CUT : null);
  const ms = elapsed();
  const store: Iterated["store"] = async (write) => {
    await ended.store(write);
    frame.emitter.send({ type: "iteration_finished", outcome: result.kind, reason, ms });
  };
  return { result, store };
}

/** Time in which an approval waits for the user does not count. */
function stopwatch({ askedMs }: IterationFrame): () => number {
  const begun = performance.now(), asked = askedMs();
  return () => Math.max(0, performance.now() - begun - (askedMs() - asked));
}

function announce({ emitter }: IterationFrame, { position, context, steered }: IterationInput): void {
  const { iteration, budget, nudges } = context;
  emitter.iteration = position + 1;
  emitter.send({ type: "iteration_started", used: Math.min(iteration, budget), budget });
  for (const text of steered) emitter.send({ type: "steered", text });
  if (nudges.length > 0) emitter.send({ type: "nudge", lines: nudges });
}

async function giveUp(
  asked: ModelCallOutcome,
  { reason, fault, recorder }: { readonly reason: string; readonly fault: IterationFault; readonly recorder: Recorder },
): Promise<Iterated> {
  await recorder.fail(reason);
  const { thinking, fatal, temporary, model, prose } = asked;
  const result: IterationResult = {
    kind: "failed",
    reason,
    fatal,
    temporary,
    fault,
    refused: null,
    unsupported: null,
    prose: prose?.text ?? null,
    model,
    thinking,
    entries: [],
    repairs: [],
    next: NO_NEXT,
    sandboxNotes: [],
    doubt: null,
  };
  return { result, store: async () => {} };
}

function cancelled(begun: Extract<IterationResult, { readonly kind: "cancelled" }>["begun"]): Iterated {
  return { result: { kind: "cancelled", begun }, store: async () => {} };
}

async function act(
  frame: IterationFrame,
  { input, asked, reply, recorder }: {
    readonly input: IterationInput;
    readonly asked: ModelCallOutcome;
    readonly reply: Reply;
    readonly recorder: Recorder;
  },
): Promise<Iterated> {
  const blocks = input.last ? [] : reply.code;
  const ran = await runBlocks(frame, { blocks, iteration: input.position + 1, recorder });
  const executed = asked.cut ? { ...ran, notes: [...ran.notes, CUT_NOTE] } : ran;
  if (frame.signal.aborted) {
    await recorder.ending({ status: "interrupted", outcome: "executed", executed, reason: "cancelled", final: null })();
    return cancelled({ thinking: asked.thinking });
  }
  const repeated = failsAlone(executed) && asked.prose?.text === input.texts.at(-1)
    ? await settleProse(frame, { input, asked })
    : null;
  const judged = repeated ??
    await settleFinal(frame, { ...input, offered: input.offered(), final: reply.final, executed });
  const settled = asked.cut ? cutAnswer(judged) : judged;
  return finish(asked, { recorder, settled, executed, reply, last: input.last });
}

async function takeProse(
  frame: IterationFrame,
  { input, asked, recorder }: {
    readonly input: IterationInput;
    readonly asked: ModelCallOutcome;
    readonly recorder: Recorder;
  },
): Promise<Iterated | null> {
  if (asked.prose === null || input.texts.length < asked.prose.after) return null;
  const settled = await settleProse(frame, { input, asked });
  if (settled === null) return null;
  recorder.bindThinking();
  await recorder.begin([]).catch(() => {});
  const reply: Reply = { thinking: "", code: [], next: NO_NEXT, final: null, repairs: [] };
  return finish(asked, { recorder, settled, executed: NOTHING, reply, last: input.last });
}

/** A model that repeats a text may not know the format, so its text counts, if Vis has no doubt about it. */
async function settleProse(
  frame: IterationFrame,
  { input, asked: { prose } }: { readonly input: IterationInput; readonly asked: Pick<ModelCallOutcome, "prose"> },
): Promise<Settled | null> {
  if (prose === null || frame.extras.answerSchema !== null && !input.supported) return null;
  const final = { answer: prose.text, answerType: "markdown", confidence: "low" } as const;
  const strictly = { executed: NOTHING, refusedBefore: null, doubted: [] };
  const settled = await settleFinal(frame, { ...input, ...strictly, offered: null, final });
  if (settled?.kind !== "accepted") return null;
  return { ...settled, final: { ...settled.final, notes: [...settled.final.notes, PROSE] } };
}

/** The blocks may be examples for the user. */
function failsAlone({ entries }: Executed): boolean {
  return entries.length > 0 &&
    entries.every(({ result: { outcome, calls } }) => ["refused", "error"].includes(outcome) && calls.length === 0);
}

function finish(
  asked: ModelCallOutcome,
  { recorder, settled, executed, reply, last }: {
    readonly recorder: Recorder;
    readonly settled: Settled | null;
    readonly executed: Executed;
    readonly reply: Reply;
    readonly last: boolean;
  },
): Iterated {
  const result = conclude(asked, { settled, executed, reply, last });
  const store = recorder.ending({
    status: result.kind === "failed" ? "error" : "done",
    outcome: result.kind,
    executed,
    reason: settled?.kind === "refused" ? settled.reason : result.kind === "empty" ? result.reason : null,
    doubt: result.doubt,
    final: settled?.kind === "accepted" ? settled.final : null,
  });
  return { result, store };
}

/** Vis stores the row while the child reads the first block. */
async function runBlocks(
  frame: IterationFrame,
  { blocks, iteration, recorder }: {
    readonly blocks: Reply["code"];
    readonly iteration: number;
    readonly recorder: Recorder;
  },
): Promise<Executed> {
  recorder.bindThinking();
  if (blocks.length === 0) {
    // An answer needs no row, because the caller gets the answer with a note.
    await recorder.begin(blocks).catch(() => {});
    return NOTHING;
  }
  const unstored = new AbortController();
  const signal = AbortSignal.any([frame.signal, unstored.signal]);
  const stored = nextTurn().then(() => {
    return recorder.begin(blocks);
  });
  stored.catch(() => unstored.abort());
  const executed = await executeBlocks({ ...frame, signal }, { blocks, iteration, stored });
  await stored;
  return executed;
}

async function executeBlocks(
  frame: IterationFrame,
  { blocks, iteration, stored }: {
    readonly blocks: readonly ReplyBlock[];
    readonly iteration: number;
    readonly stored: Promise<unknown>;
  },
): Promise<Executed> {
  const entries: JournalEntry[] = [];
  const ran: StoredBlock[] = [];
  const notes: string[] = [];
  for (const [index, block] of blocks.entries()) {
    const code = block.expr;
    if (frame.signal.aborted) {
      const result = blockResult({ outcome: "cancelled" });
      ran.push({ code, result, reads: [], literal: false, value: null, saved: [] });
      continue;
    }
    frame.emitter.send({ type: "block_started", block: index, code });
    const asked = frame.askedMs();
    const deadlineMs = deadline(block.timeMs, frame.deadlines);
    const report = await frame.environment.run({
      code,
      iteration,
      index,
      deadlineMs,
      signal: frame.signal,
    }, { stored });
    const { reads, madeFrom, literal, value, saved } = report;
    const ms = Math.max(0, report.result.ms - (frame.askedMs() - asked));
    const result = { ...withTimeAdvice(report.result, deadlineMs < frame.deadlines.maxMs), ms };
    frame.emitter.send({ type: "block_finished", block: index, result });
    const plan = saved.find(({ name }) => name === PLAN_VARIABLE);
    if (plan && plan.bytes.length <= PLAN_BYTES) frame.emitter.send({ type: "plan", items: planOf(valueOf(plan)) });
    entries.push({ code, result, value });
    ran.push({ code, result, reads, madeFrom, literal, value, saved });
    notes.push(...report.notes);
  }
  return { entries, blocks: ran, notes };
}

export function deadline(timeMs: number | null, bounds: IterationFrame["deadlines"]): number {
  const wanted = timeMs === null || !Number.isFinite(timeMs) ? bounds.defaultMs : timeMs;
  return Math.min(bounds.maxMs, Math.max(bounds.minMs, wanted));
}

function withTimeAdvice(result: BlockResult, canGrow: boolean): BlockResult {
  const { outcome, error } = result;
  if (outcome !== "timeout" || !error) return result;
  const way = canGrow
    ? 'a larger "timeMs" of the block raises this limit'
    : "no block has more time (sandbox.timeoutMaxMs), so split its work";
  return { ...result, error: { ...error, advice: `: ${way}; its changes are kept${error.advice ?? ""}` } };
}

function conclude(
  asked: ModelCallOutcome,
  { settled, executed, reply, last }: {
    readonly settled: Settled | null;
    readonly executed: Executed;
    readonly reply: Reply;
    readonly last: boolean;
  },
): Exclude<IterationResult, { readonly kind: "cancelled" }> {
  const { entries } = executed;
  const common = {
    model: asked.model,
    thinking: asked.thinking,
    entries,
    repairs: reply.repairs,
    next: reply.next,
    sandboxNotes: executed.notes,
    doubt: settled?.kind === "refused" ? settled.doubt ?? null : null,
  };
  if (settled?.kind === "accepted") return { ...common, kind: "final", final: settled.final };
  const failed = entries.find(({ result }) => !result.ok);
  if (failed && entries.every(({ result }) => !result.ok)) {
    const { error, outcome } = failed.result;
    const reason = `every block failed: ${error ? `${error.name}: ${error.message}` : outcome}`;
    const { reason: refused = null, unsupported = null } = settled ?? {};
    const rest = { fatal: false, temporary: false, fault: null, refused, unsupported };
    const prose = failsAlone(executed) ? asked.prose?.text ?? null : null;
    return { ...common, kind: "failed", reason, ...rest, prose };
  }
  if (settled) return { ...common, ...settled, doubt: common.doubt };
  if (entries.length > 0) return { ...common, kind: "executed" };
  const reason = last && reply.code.length > 0 ? NOT_RUN : null;
  return { ...common, kind: "empty", fault: asked.cut ? "cut" : "idle", reason };
}

function cutAnswer(settled: Settled | null): Settled | null {
  if (settled?.kind !== "accepted") return settled;
  const note = `${CUT} that gave this answer: check that it is complete`;
  return { ...settled, final: { ...settled.final, notes: [...settled.final.notes, note] } };
}

const AFTER_REQUEST_MS = 40;
const PASSING: readonly ProviderErrorCode[] = ["rate", "network", "stall"];

const HABITUAL: ReadonlySet<string> = new Set(["tools", "text", "json"]);

async function askModel(
  frame: IterationFrame,
  { messages, reasoning, announced, position, prefer = null }:
    & { readonly messages: readonly ModelMessage[]; readonly announced: Promise<void> }
    & Pick<IterationInput, "position" | "reasoning" | "prefer">,
): Promise<ModelCallOutcome> {
  const begun = performance.now();
  // The import begins while Vis waits for the reply, so that it does not delay the model call.
  const loading = setTimeout(() => void import("../prompt/reply/parse_reply.ts"), AFTER_REQUEST_MS);
  const traces: ModelTrace[] = [];
  const send = (event: QueryEventBody): void => void announced.then(() => frame.emitter.send(event), () => {});
  const progress = new ReplyProgress(send);
  let shown = false;
  const facts = () => ({ traces, ms: performance.now() - begun });
  try {
    const answer = await frame.router.ask({ messages, reasoning, prefer }, {
      signal: frame.signal,
      probes: position === 0 && frame.environment.depth === 0,
      onEvent: (event) => shown = progress.take(event) || shown,
      onAttempt: (attempt) => {
        traces.push({ ...attempt, repairs: [] });
        if (!attempt.ok && !shown && !frame.signal.aborted) progress.again();
      },
      onPause: (pause) => send({ type: "retrying", ...pause }),
      onWait: (wait) => send({ type: "waiting", ...wait }),
    });
    clearTimeout(loading);
    const { nativeCallText, parseReply } = await import("../prompt/reply/parse_reply.ts");
    const read = parseReply(answer.text, answer);
    const called = answer.toolCall === null ? answer.text : nativeCallText(answer.toolCall);
    const hint = read.ok || !HABITUAL.has(read.fault) ? "" : replyHint(frame.environment.habits, called);
    const parsed = read.ok || hint === "" ? read : { ...read, reason: `${hint}. ${read.reason}` };
    const text = answer.text === "" && answer.toolCall !== null ? nativeCallText(answer.toolCall) : answer.text;
    const said = parsed.ok ? parsed.reply.thinking : "";
    if (!progress.thought && said !== "") send({ type: "thinking", delta: said });
    const last = traces.at(-1);
    if (last && parsed.ok) traces[traces.length - 1] = { ...last, repairs: parsed.reply.repairs };
    return {
      ...facts(),
      ...servedBy({ ...answer, text }, parsed),
      prose: parsed.prose === undefined || answer.finish === "length" ? null : proseOf(parsed.prose, hint),
      thinking: answer.reasoning || said,
      fatal: false,
      temporary: false,
    };
  } catch (error) {
    if (frame.signal.aborted) throw new Cancelled("Request cancelled");
    if (!(error instanceof ProviderError)) throw error;
    const { provider, model } = traces.at(-1) ?? currentOf(frame);
    const failed = failedWith(error, { progress, brokeOff: shown && error.retryable });
    return { ...facts(), ...failed, ...spentOn(traces), provider, model };
  }
}

const JSON_LIKE = /^(?:\{|\[\s*\{)/, NOT_PURE = /^[ \t]*(?:`{3}|~{3}|\{|\[\s*[{"])/m;

/** If the text may have code or data for Vis, the model gets one more call. Text that begins like a JSON object is
 * no answer. */
function proseOf(text: string, hint: string): ModelCallOutcome["prose"] {
  if (JSON_LIKE.test(text)) return { text, after: Infinity };
  return { text, after: hint === "" && !NOT_PURE.test(text) ? 1 : 2 };
}

function failedWith(
  error: ProviderError,
  { progress, brokeOff }: { readonly progress: ReplyProgress; readonly brokeOff: boolean },
): Omit<ModelCallOutcome, "traces" | "ms" | "usage" | "costUsd" | "provider" | "model"> {
  return {
    text: progress.text || null,
    prose: null,
    parsed: { ok: false, reason: error.message, fault: brokeOff ? "broken" : "call" },
    thinking: progress.thinking,
    cut: false,
    fatal: !brokeOff && isInfrastructure(error),
    temporary: error.retryable || PASSING.includes(error.code),
  };
}

function servedBy(
  { text, usage, costUsd, provider, model, finish }: RouterReply,
  parsed: ParsedReply,
): Pick<ModelCallOutcome, "text" | "parsed" | "cut" | "usage" | "costUsd" | "provider" | "model"> {
  const cut = finish === "length";
  const reply = cut && !parsed.ok
    ? {
      ...parsed,
      fault: "cut" as const,
      reason: `The length limit of the model ${model} cut the reply. ${parsed.reason}`,
    }
    : parsed;
  return { text, parsed: reply, cut, usage, costUsd, provider, model };
}

function currentOf({ router }: IterationFrame): Pick<ModelCallOutcome, "provider" | "model"> {
  const { provider, model } = router.current();
  return { provider: provider.name, model };
}

/** Another prompt or reply may avoid an error about the content, such as a refusal or a full context. */
function isInfrastructure(error: ProviderError): boolean {
  if (error.code === "refused" || error.code === "context" || error.code === "reply") return false;
  return error.status !== 400 && error.status !== 422;
}

type Delta = Exclude<ModelEvent, { type: "end" }>;

class ReplyProgress {
  readonly #send: (event: QueryEventBody) => void;
  #stream = new ReplyStream();
  #text: string[] = [];
  #reasoning: string[] = [];
  #thinking: string[] = [];
  #drafted = false;

  constructor(send: (event: QueryEventBody) => void) {
    this.#send = send;
  }

  get text(): string {
    return this.#text.join("");
  }

  get thinking(): string {
    return this.#reasoning.join("") || this.#thinking.join("");
  }

  get thought(): boolean {
    return this.#reasoning.length > 0 || this.#thinking.length > 0;
  }

  take(event: Delta): boolean {
    if (event.type === "reasoning") {
      this.#reasoning.push(event.delta);
      this.#send({ type: "thinking", delta: event.delta });
      return true;
    }
    this.#text.push(event.delta);
    const { thinking, code, answer } = this.#stream.push(event.delta);
    const isOwn = thinking !== "" && this.#reasoning.length === 0;
    if (isOwn) {
      this.#thinking.push(thinking);
      this.#send({ type: "thinking", delta: thinking });
    }
    for (const { block, delta } of code) this.#send({ type: "code", block, delta });
    if (answer !== "") this.#send({ type: "answer_draft", delta: answer });
    this.#drafted ||= answer !== "";
    return isOwn || code.length > 0;
  }

  /** Channels have seen at most a draft of the dropped reply. */
  again(): void {
    if (this.#drafted) this.#send({ type: "answer_draft", delta: "", again: true });
    this.#drafted = false;
    this.#stream = new ReplyStream();
    this.#text = [];
  }
}
