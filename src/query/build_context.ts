import { clip } from "../domain/kit/text.ts";
import type { Environment } from "../environment/environment.ts";
import type { ActiveExtensions } from "../extension/active.ts";
import type { Log } from "../logging/log.ts";
import type { PreviousTurn } from "../persistence/store.ts";
import type { ContextCaps, ContextParts } from "../prompt/context/context_parts.ts";
import { renderVarIndex } from "../prompt/context/variable_index.ts";
import { builtinNudges, extensionNudges, type NudgeWarning, type Repetition } from "../prompt/nudges.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { QueryState } from "./query_state.ts";

const STEERING_CHARS = 2_000;

export interface ContextSource {
  readonly environment: Environment;
  readonly active: ActiveExtensions;
  readonly state: QueryState;
  readonly repetition: Repetition;
  readonly caps: ContextCaps;
  readonly handover: ContextParts["handover"];
  /** What the user has sent since the last call. */
  readonly steered: readonly string[];
  readonly log: Log;
  /** Why no block runs any more; null while blocks run. */
  readonly last: string | null;
}

/** The parts of the next context message. Takes the notes that are due, since each is shown once. */
export async function buildContext(source: ContextSource): Promise<ContextParts> {
  const { environment, state, caps, steered } = source;
  const notes = [
    ...steered.map((text) => `The user says meanwhile: ${clip(text, STEERING_CHARS)}`),
    ...state.notes.splice(0),
    ...environment.takeNotes(),
  ];
  const fresh = state.thinking === "" && state.journal === null;
  return {
    iteration: state.used + 1,
    budget: state.budget,
    last: source.last !== null,
    notes: source.last === null ? notes : [lastNote(source.last, notes.length), ...notes],
    handover: fresh ? source.handover : null,
    thinking: state.thinking,
    thoughts: state.thoughts,
    journal: state.journal?.entries ?? [],
    journalIteration: state.journal?.iteration ?? null,
    failures: state.failures,
    changed: state.changed.line,
    attempts: state.attempts.newest(caps.attempts, state.journal?.iteration ?? null),
    index: environment.index.rendered((heads) => renderVarIndex(heads, caps)),
    nudges: await nudges(source),
    caps,
  };
}

/** Before the other notes, which may ask for what the last call cannot do. */
function lastNote(why: string, others: number): string {
  const still = others > 0 ? ", whatever a note below asks for" : "";
  return `${why}: this is the last call and no block runs any more${still}. Give "final" now: the best answer from the variables and results that exist, and what is missing.`;
}

async function nudges(source: ContextSource): Promise<string[]> {
  const { environment, active, state, repetition, log } = source;
  const own = builtinNudges({
    used: state.used,
    budget: state.budget,
    userVariables: environment.index.userCount(),
    offender: repetition.offender(),
    repaired: state.repaired,
    last: source.last !== null,
  });
  const entries = state.journal?.entries ?? null;
  const context = {
    environment: environment.view(),
    iteration: state.used,
    currentMaxIterations: state.budget,
    prevExpressions: entries?.map(({ code, result, value }) => ({
      code,
      get result(): unknown {
        return value ? decode(value) : undefined;
      },
      preview: result.preview,
      ...(result.error ? { error: `${result.error.name}: ${result.error.message}` } : {}),
      stdout: result.stdout,
      stderr: result.stderr,
      executionTimeMs: result.ms,
      timedOut: result.timedOut,
      repaired: result.repaired !== null,
    })) ?? null,
    prevIteration: state.journal ? state.journal.iteration - 1 : -1,
    userVarCount: environment.index.userCount(),
  };
  const texts = (source.last !== null ? [] : active.nudges).map(async ({ namespace, nudge }) => ({
    namespace,
    text: await nudge(context),
  }));
  const onWarn = (warning: NudgeWarning) => log.warn("nudge_skipped", { ...warning });
  return [...own, ...extensionNudges(await Promise.all(texts), onWarn)];
}

/** Limits, in characters, for interrupted blocks. The text that they share is cut in the middle when the handover is
 * rendered. */
const CUT = { blocks: 5, chars: 300 };

/** What the first context of a query reports about the previous query. */
export function handoverOf(before: PreviousTurn | null): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, answer, status, images = 0, pending = [], notes = [] } = before;
  const seen = images === 0 ? "" : `\n[with ${images} ${images === 1 ? "image" : "images"}, not shown again]`;
  return {
    request: text + seen,
    thinkings,
    answer: [answer, ...notes.map((note) => `[${note}]`), ...cutBlocks(pending)].join("\n"),
    ...(status === "done" ? {} : { unfinished: true }),
  };
}

/** What was running when the process ended. The model must check whether it has to be repeated. */
export function cutBlocks(pending: readonly string[]): string[] {
  if (pending.length === 0) return [];
  const [these, they] = pending.length === 1 ? ["this block", "it"] : [`these ${pending.length} blocks`, "they"];
  const shown = pending.slice(0, CUT.blocks).map((code, at) => `[${at + 1}] ${clip(code, CUT.chars)}`);
  return [
    `It ended while ${these} ran. What ${they} defined or changed is gone; what ${they} did outside may have happened:`,
    ...shown,
  ];
}
