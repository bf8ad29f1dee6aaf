import { setImmediate as nextTurn } from "node:timers/promises";
import { Cancelled, messageOf, ProviderError, type ProviderErrorCode } from "../domain/errors.ts";
import { clip, oneLine } from "../domain/kit/text.ts";
import { blockResult } from "../domain/query/host_call.ts";
import { type ModelTrace, spentOn } from "../domain/query/model_call.ts";
import { PLAN_VARIABLE, planOf } from "../domain/query/plan.ts";
import type { QueryEventBody } from "../domain/query/query_schemas.ts";
import { valueOf } from "../environment/conversation_history.ts";
import { replyHint } from "../extension/habitual_calls.ts";
import type { StoredBlock } from "../persistence/store.ts";
import type { AnswerSchema, Judged } from "../prompt/answer_schema.ts";
import type { JournalEntry } from "../prompt/context_message.ts";
import { callMessages } from "../prompt/prompt.ts";
import type { ParsedReply, Reply, ReplyBlock, ReplyFinal } from "../prompt/reply/reply.ts";
import { ReplyStream } from "../prompt/reply/stream_reply.ts";
import type { ModelEvent, ModelMessage } from "../providers/provider.ts";
import type { RouterReply } from "../providers/router/router.ts";
import { failedCommands } from "./answer_claims.ts";
import {
  type AcceptedFinal,
  type Doubt,
  type Executed,
  type Iterated,
  type IterationFault,
  type IterationFrame,
  type IterationInput,
  type IterationResult,
  type ModelCallOutcome,
  type OfferedAnswer,
  Recorder,
} from "./iteration.ts";

const NO_NEXT: Reply["next"] = { model: null, reasoning: null };
const NOTHING: Executed = { entries: [], blocks: [], notes: [] };
/** Vis does not report a larger value to channels as a plan. */
const PLAN_BYTES = 64_000;
const NOT_RUN = "The last call sent code, which does not run, and no answer";
const CUT = "The length limit of the model cut the reply";
const CUT_NOTE =
  "The length limit of the model cut your last reply: only what was complete of it counted. Keep replies " +
  "shorter: fewer blocks, and answer(value) for a long answer";

/** Makes a model call, runs its blocks and judges its answer. Resolves before the store has the end of the iteration.
 * Rejects only with `ConfigError`, `StoreError`, `TakenOverError` and defects, even when `input.stored` rejects. */
export async function runIteration(frame: IterationFrame, input: IterationInput): Promise<Iterated> {
  const elapsed = stopwatch(frame);
  const { alternatingRoles } = frame.router.current().capabilities;
  const messages = callMessages(frame, { context: input.context, alternatingRoles });
  const announced = input.stored.then(() => announce(frame, input));
  announced.catch(() => {}); // If the model call fails first, the caller gets the error of the call.
  const { reasoning, prefer = null } = input;
  const asked = await askModel(frame, { messages, reasoning, prefer, announced }).catch((error: unknown) => {
    if (error instanceof Cancelled) return null;
    throw error;
  });
  await announced;
  if (asked === null) return cancelled(null);
  frame.emitter.send({ type: "usage", usage: asked.usage });
  const recorder = new Recorder(frame, { input, asked, messages });
  const ended = asked.parsed.ok
    ? await act(frame, { input, asked, reply: asked.parsed.reply, recorder })
    : await giveUp(asked, { ...asked.parsed, recorder });
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

/** Open questions to the user do not count in the elapsed time. */
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

/** Records a failed iteration without a usable reply. The model gets the reason in its next call. */
async function giveUp(
  asked: ModelCallOutcome,
  { reason, fault, recorder }: { readonly reason: string; readonly fault: IterationFault; readonly recorder: Recorder },
): Promise<Iterated> {
  await recorder.fail(reason);
  const { thinking, fatal, temporary, model, text } = asked;
  const result: IterationResult = {
    kind: "failed",
    reason,
    fatal,
    temporary,
    fault,
    refused: null,
    unsupported: null,
    prose: fault === "text" ? text : null,
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

/** A cancelled iteration has nothing to store. */
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
  const judged = await settleFinal(frame, {
    offered: input.offered(),
    final: reply.final,
    executed,
    refusedBefore: input.refusedBefore,
    supported: input.supported,
    doubted: input.doubted,
    unsupportedClaim: input.unsupportedClaim,
  });
  const settled = asked.cut ? cutAnswer(judged) : judged;
  const result = conclude(asked, { settled, executed, reply, last: input.last });
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

/** The child needs some time to read the first block, and Vis stores the row of the blocks during this time. Rejects if
 * there are blocks and Vis cannot store their row. */
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
    await recorder.begin(blocks).catch(() => {}); // An answer needs no row, because the caller gets it with a note.
    return NOTHING;
  }
  const unstored = new AbortController();
  const signal = AbortSignal.any([frame.signal, unstored.signal]);
  // Vis sends the first block before this turn begins.
  const stored = nextTurn().then(() => {
    return recorder.begin(blocks);
  });
  stored.catch(() => unstored.abort());
  const executed = await executeBlocks({ ...frame, signal }, { blocks, iteration, stored });
  await stored;
  return executed;
}

/** An error does not keep the next block from running, but a cancellation does. Host calls wait for `stored`. */
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
    const report = await frame.environment.run({
      code,
      iteration,
      index,
      deadlineMs: deadline(block.timeMs, frame.deadlines),
      signal: frame.signal,
    }, { stored });
    const { reads, madeFrom, literal, value, saved } = report;
    const result = { ...report.result, ms: Math.max(0, report.result.ms - (frame.askedMs() - asked)) };
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
  if (timeMs === null || !Number.isFinite(timeMs)) return bounds.defaultMs;
  return Math.min(bounds.maxMs, Math.max(bounds.minMs, timeMs));
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
    const rest = { fatal: false, temporary: false, fault: null, refused, unsupported, prose: null };
    return { ...common, kind: "failed", reason, ...rest };
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
/** An error with such a code counts as temporary, even if it is not retryable. */
const PASSING: readonly ProviderErrorCode[] = ["rate", "network", "stall"];

const HABITUAL: ReadonlySet<string> = new Set(["tools", "text", "json"]);

/** Calls the model once, with the retries of the router. Thinking, code and the draft of an answer reach the channels
 * after `announced`. */
async function askModel(
  frame: IterationFrame,
  { messages, reasoning, announced, prefer = null }:
    & { readonly messages: readonly ModelMessage[]; readonly announced: Promise<void> }
    & Pick<IterationInput, "reasoning" | "prefer">,
): Promise<ModelCallOutcome> {
  const begun = performance.now();
  // An import during the call does not delay the call.
  const loading = setTimeout(() => void import("../prompt/reply/parse_reply.ts"), AFTER_REQUEST_MS);
  const traces: ModelTrace[] = [];
  // Events wait until Vis has reported all earlier events.
  const send = (event: QueryEventBody): void => void announced.then(() => frame.emitter.send(event), () => {});
  const progress = new ReplyProgress(send);
  let shown = false;
  const facts = () => ({ traces, ms: performance.now() - begun });
  try {
    const answer = await frame.router.ask({ messages, reasoning, prefer }, {
      signal: frame.signal,
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
      thinking: answer.reasoning || said,
      fatal: false,
      temporary: false,
    };
  } catch (error) {
    if (frame.signal.aborted) throw new Cancelled("Query cancelled");
    if (!(error instanceof ProviderError)) throw error;
    const { provider, model } = traces.at(-1) ?? currentOf(frame);
    const failed = failedWith(error, { progress, brokeOff: shown && error.retryable });
    return { ...facts(), ...failed, ...spentOn(traces), provider, model };
  }
}

function failedWith(
  error: ProviderError,
  { progress, brokeOff }: { readonly progress: ReplyProgress; readonly brokeOff: boolean },
): Omit<ModelCallOutcome, "traces" | "ms" | "usage" | "costUsd" | "provider" | "model"> {
  return {
    text: progress.text || null,
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

/** Returns whether another call cannot help, because the router has tried every option. The model can react to a
 * refusal of the prompt (400, 422, a content filter, too long). After a reply that was too long, the next reply
 * differs. */
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

  /** Native reasoning of the model takes precedence over the thinking in the reply. */
  get thinking(): string {
    return this.#reasoning.join("") || this.#thinking.join("");
  }

  get thought(): boolean {
    return this.#reasoning.length > 0 || this.#thinking.length > 0;
  }

  /** Returns true if the event showed code or thinking; a draft of an answer does not count. Native reasoning takes
   * precedence over the thinking in the reply. */
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

  /** Vis asks the model again, so the reply so far does not count. Channels have seen at most a draft of it. */
  again(): void {
    if (this.#drafted) this.#send({ type: "answer_draft", delta: "", again: true });
    this.#drafted = false;
    this.#stream = new ReplyStream();
    this.#text = [];
  }
}

const RENDER_MS = 3_000;
const MAX_VALUE_BYTES = 64 << 20;

type Settled =
  | { readonly kind: "accepted"; readonly final: AcceptedFinal }
  | {
    readonly kind: "refused";
    readonly reason: string;
    /** The text is an answer without support that Vis has refused twice for the same reason, or null. */
    readonly unsupported: string | null;
    readonly doubt?: Doubt;
  };

interface Candidate {
  readonly text: string;
  readonly words: string | null;
  readonly from: "variable" | "template" | "literal" | "value";
  readonly answerType: AcceptedFinal["answerType"];
  readonly confidence: AcceptedFinal["confidence"];
  readonly counted: Executed["entries"];
  readonly problem: string | null;
  readonly judged: Judged | null;
}

/** An answer that a block offered takes precedence over the answer in the reply. Returns null if neither exists. */
export async function settleFinal(
  frame: IterationFrame,
  { offered, final, executed, refusedBefore, supported, doubted, unsupportedClaim }: {
    readonly offered: OfferedAnswer | null;
    readonly final: ReplyFinal | null;
    readonly executed: Executed;
    readonly refusedBefore: string | null;
    readonly supported: boolean;
    readonly doubted: readonly Doubt[];
    readonly unsupportedClaim: (text: string) => string | null;
  },
): Promise<Settled | null> {
  const candidate = offered
    ? fromOffer(frame, { offered, executed })
    : final
    ? await fromReply(frame, { final, executed })
    : null;
  if (!candidate) return null;
  const { text, judged, counted, problem } = candidate;
  // The caller could not use an answer that does not fit its schema, so Vis refuses the answer even when the model
  // repeats it.
  if (judged && !judged.ok) {
    const reason = refuseForBlocks(counted)?.reason ?? problem ?? judged.reason;
    return { kind: "refused", reason, unsupported: null };
  }
  const refusal = refusalOf(candidate, frame.request);
  const { answerType, confidence } = candidate;
  const answer = judged
    ? { answer: judged.text, answerType: "text" as const, value: judged.value }
    : { answer: text, answerType };
  if (refusal === null) {
    const doubt = doubtOf(candidate, executed) ?? doubtClaim(candidate, unsupportedClaim);
    if (doubt && !doubted.includes(doubt.doubt)) return { kind: "refused", unsupported: null, ...doubt };
    return { kind: "accepted", final: { ...answer, confidence, notes: [] } };
  }
  const { reason } = refusal;
  const verdict = settleRefusal(refusal, refusedBefore);
  if (!verdict.letThrough || answer.answer.trim() === "") return { kind: "refused", reason, unsupported: null };
  const failed = executed.entries.length > 0 && executed.entries.every(({ result }) => !result.ok);
  if (problem !== null || candidate.from === "literal" && failed && !supported) {
    return { kind: "refused", reason, unsupported: text };
  }
  return { kind: "accepted", final: { ...answer, confidence: "low", notes: [verdict.note] } };
}

/** Returns the doubt "output" if the model cannot have seen the output of a failed command, or null. */
function doubtOf(
  { from }: Candidate,
  { entries }: Executed,
): { readonly doubt: Doubt; readonly reason: string } | null {
  const failed = from === "literal" ? failedCommands(entries.flatMap(({ result }) => result.calls)) : [];
  if (failed.length === 0) return null;
  const shown = failed.slice(0, MAX_FAILURES).map((how) => oneLine(how, FAILURE_CHARS)).join(". ");
  return { doubt: "output", reason: `${shown}; you have not seen ${failed.length > 1 ? "their" : "its"} output` };
}

/** Returns why Vis refuses an answer that claims work which the request did not do, or null. Only the model's own words
 * can claim work. */
function doubtClaim(
  { words, judged }: Candidate,
  unsupportedClaim: (text: string) => string | null,
): { readonly doubt: Doubt; readonly reason: string } | null {
  const claim = judged || words === null ? null : unsupportedClaim(words);
  if (claim === null) return null;
  const reason = `So far no file was changed and no command ran, but the answer says: "${
    oneLine(claim, FAILURE_CHARS)
  }". Do it now, or say what is true`;
  return { doubt: "claim", reason };
}

/** If the query has a schema, the schema decides whether the answer is complete. */
function refusalOf({ problem, judged, text, from, counted }: Candidate, request: string): Refusal | null {
  if (judged) return refuseForBlocks(counted);
  if (problem !== null) return { reason: problem, fact: problem };
  return refuseFinal({ answer: text, resolved: from !== "literal", entries: counted, request });
}

function fromOffer(
  frame: IterationFrame,
  { offered, executed }: { readonly offered: OfferedAnswer; readonly executed: Executed },
): Candidate {
  const { text, type, confidence, block, value } = offered;
  return {
    text,
    words: null,
    from: "value",
    answerType: type,
    confidence,
    // Blocks that fail after the offer do not affect the answer.
    counted: executed.entries.slice(0, block),
    problem: null,
    judged: frame.extras.answerSchema?.judge({ value }) ?? null,
  };
}

async function fromReply(
  frame: IterationFrame,
  { final, executed }: { readonly final: ReplyFinal; readonly executed: Executed },
): Promise<Candidate> {
  const { answerType, confidence } = final;
  const base = { answerType, confidence, counted: executed.entries };
  const { answerSchema } = frame.extras;
  const judged = answerSchema ? await judgeNamed(frame, { name: final.answer.trim(), answerSchema }) : null;
  if (judged) return { ...base, text: final.answer, words: null, from: "variable", problem: null, judged };
  const rendered = await frame.environment.render(final.answer, { deadlineMs: RENDER_MS, json: answerSchema !== null });
  const text = rendered.ok ? rendered.text : final.answer;
  return {
    ...base,
    text,
    words: rendered.ok && rendered.from === "variable" ? null : final.answer.replace(/\{\{[^{}]*\}\}/g, "…"),
    from: rendered.ok ? rendered.from : "literal",
    problem: rendered.ok ? null : clip(rendered.reason, 1000),
    judged: answerSchema?.judge({ text }) ?? null,
  };
}

/** If the whole answer is the name of a variable, its value counts instead of its text. Returns null if no variable has
 * this name. */
async function judgeNamed(
  { environment }: IterationFrame,
  { name, answerSchema }: { readonly name: string; readonly answerSchema: AnswerSchema },
): Promise<Judged | null> {
  if (environment.index.get(name) === undefined) return null;
  let value: unknown;
  try {
    value = await environment.readVariable(name, { maxBytes: MAX_VALUE_BYTES });
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
  return answerSchema.judge({ value });
}

/** These words report an end without any content, in languages that models use unasked. */
const REPORTS = new Set([
  ..."done ok okay ready complete completed finished success listed wynik gotowe zrobione wypisane fertig".split(" "),
  ..."erledigt listo hecho terminado fini terminé fait pronto feito fatto klaar готово 完成 完了".split(" "),
  ...["task completed", "task complete", "all done"],
]);
/** These words stand in for an answer. */
const PLACEHOLDERS = new Set([
  ..."result results output answer final listing todo placeholder null undefined nan".split(" "),
  ...["see above", "as above", "the answer", "the result", "the results", "your answer here", "answer here"],
  ...["[object object]", "object object"],
]);
const MAX_FAILURES = 5, FAILURE_CHARS = 200;

/** The model gets the reason; the user gets only the fact. */
interface Refusal {
  readonly reason: string;
  readonly fact: string;
}

/** Returns why an answer must not end the query yet, or null. `resolved` is true if the answer came from a variable, a
 * template or a block. The failure of a block in `entries` counts against the answer. */
export function refuseFinal(
  { answer, resolved, entries, request = "" }: {
    readonly answer: string;
    readonly resolved: boolean;
    readonly entries: readonly JournalEntry[];
    readonly request?: string;
  },
): Refusal | null {
  const blocks = refuseForBlocks(entries);
  if (blocks !== null) return blocks;
  if (answer.trim() === "") {
    const advice = resolved
      ? "the variable or template it came from has no text"
      : "put the content into it, or the name of the variable that holds it";
    return { reason: `The answer is empty: ${advice}`, fact: "it is empty" };
  }
  const word = bare(answer), isReport = REPORTS.has(word);
  if (!resolved && (isReport || PLACEHOLDERS.has(word)) && !asksForWord(request, { word, isReport })) {
    const fact = `The answer "${oneLine(answer, 40)}" is a placeholder`;
    return {
      reason: `${fact}: put the content into it, or the name of the variable that holds it`,
      fact: `"${oneLine(answer, 40)}" may stand for an answer that is missing`,
    };
  }
  return null;
}

const SAYING =
  "answer|reply|respond|say|antwort\\p{L}*|sag\\p{L}*|répon\\p{L}*|dis|dites|respond\\p{L}*|di|rispond\\p{L}*|" +
  "diga|antwoord\\p{L}*|zeg|odpowiedz\\p{L}*|ответь\\p{L}*|скажи\\p{L}*";
const WRITING =
  "print|return|write|output|schreib\\p{L}*|écri\\p{L}*|escrib\\p{L}*|scriv\\p{L}*|escrev\\p{L}*|schrijf|napisz|напиши\\p{L}*";
const EXACTLY = "with|only|just|exactly|the word|mit|nur|genau|avec|con|com|met";
const WHEN = "when|once|after|until|wenn|sobald|nachdem|quand|cuando|quando|als";

/** Returns whether a request asks for exactly this word: in quotation marks, or after a verb such as "answer". A word
 * that names a kind of answer needs a word such as "with" before it. */
function asksForWord(
  request: string,
  { word, isReport }: { readonly word: string; readonly isReport: boolean },
): boolean {
  const text = request.slice(0, MOST_SEARCHED).toLowerCase();
  const literal = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const begin = "(?<![\\p{L}\\p{N}_])", end = "(?![\\p{L}\\p{N}_])";
  const near = `(?:(?!${begin}(?:${WHEN})${end})[^.!?\\n]){0,60}?`;
  const ways = [
    `["'\`“„«「*]\\s*${literal}[.!]?\\s*["'\`”“»」*]`,
    `${begin}(?:${SAYING}|${WRITING})${end}${near}${begin}(?:${EXACTLY})\\s+${begin}${literal}${end}`,
    ...isReport
      ? [
        `${begin}(?:${SAYING})${end}${near}${begin}${literal}${end}`,
        `${begin}(?:${WRITING})\\s+${begin}${literal}${end}`,
      ]
      : [],
  ];
  return ways.some((way) => new RegExp(way, "u").test(text));
}

/** Vis searches for the wanted word in this many characters of a request. */
const MOST_SEARCHED = 10_000;

function refuseForBlocks(entries: readonly JournalEntry[]): Refusal | null {
  const failed = entries.flatMap(({ result }, at) =>
    result.ok ? [] : [{ block: at + 1, why: oneLine(whyOf(result), FAILURE_CHARS) }]
  );
  if (failed.length === 0) return null;
  const more = failed.length > MAX_FAILURES ? `. ${failed.length - MAX_FAILURES} more failed` : "";
  const shown = failed.slice(0, MAX_FAILURES);
  return {
    reason: `${shown.map(({ block, why }) => `Block ${block} failed: ${why}`).join(". ")}${more}. ` +
      "Fix what failed or leave it out, then finish",
    fact: `code of its last step failed (${shown[0]?.why ?? ""})`,
  };
}

/** A second consecutive refusal for the same reason accepts the answer, so that no rule repeats forever. Reasons that
 * differ only in numbers count as the same. */
export function settleRefusal(
  { reason, fact }: Refusal,
  previous: string | null,
): { readonly letThrough: false } | { readonly letThrough: true; readonly confidence: "low"; readonly note: string } {
  if (previous === null || kindOf(previous) !== kindOf(reason)) return { letThrough: false };
  return { letThrough: true, confidence: "low", note: `Vis doubts this answer: ${oneLine(fact, 300)}` };
}

function whyOf({ error, outcome }: JournalEntry["result"]): string {
  return error ? `${error.name}: ${error.message}` : outcome;
}

function bare(answer: string): string {
  return answer.slice(0, 200).trim().toLowerCase().replace(/^[\s"'`*_([]+|[\s"'`*_)\].!…:]+$/g, "");
}

function kindOf(reason: string): string {
  return reason.replace(/\d+/g, "#").replace(/\s+/g, " ").trim();
}
