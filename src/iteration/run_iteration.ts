import { setImmediate as nextTurn } from "node:timers/promises";
import { Cancelled } from "../domain/errors.ts";
import { blockResult } from "../domain/query/block_result.ts";
import type { StoredBlock } from "../persistence/store.ts";
import { callMessages } from "../prompt/call_messages.ts";
import type { JournalEntry } from "../prompt/context/context_parts.ts";
import type { Reply, ReplyBlock } from "../prompt/reply/reply.ts";
import { askModel, type ModelCallOutcome } from "./ask_model.ts";
import type {
  Executed,
  Iterated,
  IterationFault,
  IterationFrame,
  IterationInput,
  IterationResult,
} from "./iteration.ts";
import { Recorder } from "./recorder.ts";
import { type Settled, settleFinal } from "./settle_final.ts";

/** Everything of it is stored. */
const CANCELLED: Iterated = { result: { kind: "cancelled" }, store: async () => {} };
const NO_NEXT: Reply["next"] = { model: null, reasoning: null };
const NOTHING: Executed = { entries: [], blocks: [], notes: [] };
const CUT = "The length limit of the model cut the reply";
const CUT_NOTE =
  "The length limit of the model cut your last reply: only what was complete of it counted. Keep replies " +
  "shorter: fewer blocks, and answer(value) for a long answer";

/** One model round trip: assemble, call, execute. Its row is stored when it returns, its end is not. Throws only
 * `ConfigError`, `StoreError` and defects, including those of `input.stored`. */
export async function runIteration(frame: IterationFrame, input: IterationInput): Promise<Iterated> {
  const begun = performance.now();
  const { alternatingRoles } = frame.router.current().capabilities;
  const messages = callMessages(frame, { context: input.context, alternatingRoles });
  const announced = input.stored.then(() => announce(frame, input));
  announced.catch(() => {}); // a call that fails otherwise has its own error
  const { reasoning, prefer = null } = input;
  const asked = await askModel(frame, { messages, reasoning, prefer, announced }).catch((error: unknown) => {
    if (error instanceof Cancelled) return null;
    throw error;
  });
  await announced;
  if (asked === null) return CANCELLED;
  frame.emitter.send({ type: "usage", usage: asked.usage });
  const recorder = new Recorder(frame, { input, asked, messages });
  const ended = asked.parsed.ok
    ? await act(frame, { input, asked, reply: asked.parsed.reply, recorder })
    : await giveUp(asked, { ...asked.parsed, recorder });
  const { result } = ended;
  if (result.kind === "cancelled") return ended;
  const reason = "reason" in result ? result.reason : asked.cut ? CUT : null;
  const ms = performance.now() - begun;
  const store: Iterated["store"] = async (write) => {
    await ended.store(write);
    frame.emitter.send({ type: "iteration_finished", outcome: result.kind, reason, ms });
  };
  return { result, store };
}

function announce({ emitter }: IterationFrame, { position, context, steered }: IterationInput): void {
  const { iteration, budget, nudges } = context;
  emitter.iteration = position + 1;
  emitter.send({ type: "iteration_started", used: Math.min(iteration, budget), budget });
  for (const text of steered) emitter.send({ type: "steered", text });
  if (nudges.length > 0) emitter.send({ type: "nudge", lines: nudges });
}

/** Records a failed iteration without a usable reply. The model receives the reason in its next call. */
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
  };
  return { result, store: async () => {} };
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
    return CANCELLED;
  }
  const judged = await settleFinal(frame, {
    offered: input.offered(),
    final: reply.final,
    executed,
    refusedBefore: input.refusedBefore,
    supported: input.supported,
  });
  const settled = asked.cut ? cutAnswer(judged) : judged;
  const result = conclude(asked, { settled, executed, reply });
  const store = recorder.ending({
    status: result.kind === "failed" ? "error" : "done",
    outcome: result.kind,
    executed,
    reason: settled?.kind === "refused" ? settled.reason : null,
    final: settled?.kind === "accepted" ? settled.final : null,
  });
  return { result, store };
}

/** Runs the blocks while their row is stored, which takes the main process as long as the child needs to read the first
 * of them. Rejects if the row cannot be stored. */
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
    await recorder.begin(blocks).catch(() => {}); // an answer needs no row: the caller gets it with a note
    return NOTHING;
  }
  const unstored = new AbortController();
  const signal = AbortSignal.any([frame.signal, unstored.signal]);
  // In a separate turn: by then the first block has been sent.
  const stored = nextTurn().then(() => {
    return recorder.begin(blocks);
  });
  stored.catch(() => unstored.abort());
  const executed = await executeBlocks({ ...frame, signal }, { blocks, iteration, stored });
  await stored;
  return executed;
}

/** Runs the blocks in order; an error in one does not stop the next, cancellation does. Host calls wait for
 * `stored`. */
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
    const report = await frame.environment.run({
      code,
      iteration,
      index,
      deadlineMs: deadline(block.timeMs, frame.deadlines),
      signal: frame.signal,
    }, { stored });
    const { result, reads, madeFrom, literal, value, saved } = report;
    frame.emitter.send({ type: "block_finished", block: index, result });
    entries.push({ code, result, value });
    ran.push({ code, result, reads, madeFrom, literal, value, saved });
    notes.push(...report.notes);
  }
  return { entries, blocks: ran, notes };
}

/** The model's estimate, clamped to the operator's bounds. */
export function deadline(timeMs: number | null, bounds: IterationFrame["deadlines"]): number {
  if (timeMs === null || !Number.isFinite(timeMs)) return bounds.defaultMs;
  return Math.min(bounds.maxMs, Math.max(bounds.minMs, timeMs));
}

function conclude(
  asked: ModelCallOutcome,
  { settled, executed, reply }: {
    readonly settled: Settled | null;
    readonly executed: Executed;
    readonly reply: Reply;
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
  if (settled) return { ...common, ...settled };
  if (entries.length > 0) return { ...common, kind: "executed" };
  return { ...common, kind: "empty", fault: asked.cut ? "cut" : "idle" };
}

function cutAnswer(settled: Settled | null): Settled | null {
  if (settled?.kind !== "accepted") return settled;
  const note = `${CUT} that gave this answer: check that it is whole`;
  return { ...settled, final: { ...settled.final, notes: [...settled.final.notes, note] } };
}
