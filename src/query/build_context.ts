import { clip, counted, oneLine, someOf } from "../domain/kit/text.ts";
import { ChangedFiles } from "../domain/query/work_summary.ts";
import type { Environment } from "../environment/environment.ts";
import type { ActiveExtensions } from "../extension/active_extensions.ts";
import type { UndoneChange } from "../extension/spec.ts";
import type { Log } from "../logging/log.ts";
import type { PreviousTurn } from "../persistence/store.ts";
import { type ContextCaps, type ContextParts, renderEarlier, renderVarIndex } from "../prompt/context_message.ts";
import { builtinNudges, extensionNudges, type NudgeWarning, Repetition } from "../prompt/nudges.ts";
import { decode } from "../sandbox/codec/codec.ts";
import type { QueryState } from "./query_state.ts";

/** The context may cut a longer message, so its note names the variable with the whole text. */
const WHOLE_CHARS = 100;
const SAID = { messages: 8, chars: 500 };

export interface ContextSource {
  readonly environment: Environment;
  readonly active: ActiveExtensions;
  readonly state: QueryState;
  readonly repetition: Repetition;
  readonly caps: ContextCaps;
  readonly handover: ContextParts["handover"];
  readonly steered: readonly string[];
  readonly log: Log;
  readonly last: string | null;
}

/** Removes the due notes from their lists, so that the next context does not repeat them. */
export async function buildContext(source: ContextSource): Promise<ContextParts> {
  const { environment, state, caps, steered } = source;
  const notes = [
    ...state.said.slice(-SAID.messages).map((text) =>
      `The user said meanwhile${wholeOf(text)}: ${clip(text, SAID.chars)}`
    ),
    ...(await Promise.all(steered.map((text) => messageNotes(text, environment)))).flat(),
    ...state.notes.splice(0),
    ...environment.takeNotes(),
  ];
  state.said.push(...steered);
  if (steered.length > 0) bindMessages(source);
  const { journal } = state;
  const fresh = state.thinking === "" && journal === null && state.earlier.length === 0;
  const earlier = renderEarlier(state.earlier, { journal: journal?.entries ?? [], caps });
  const shown = new Set([...earlier.positions, ...(journal ? [journal.position] : [])]);
  return {
    iteration: state.used + 1,
    budget: state.budget,
    last: source.last !== null,
    notes: source.last === null ? notes : [lastNote(source.last, notes.length), ...notes],
    handover: fresh ? source.handover : null,
    thinking: state.thinking,
    thoughts: state.thoughts,
    journal: journal?.entries ?? [],
    journalIteration: journal?.iteration ?? null,
    earlier: earlier.text,
    failures: state.hasFailed ? state.failures : 0,
    changed: state.changed.line,
    attempts: state.attempts.newest(caps.attempts, shown),
    index: environment.index.rendered((heads) => renderVarIndex(heads, caps)),
    nudges: await nudges(source),
    caps,
  };
}

const NAMED_ROOM = { file: 2_000, all: 2_000 };

async function messageNotes(text: string, environment: Pick<Environment, "namedFiles">): Promise<readonly string[]> {
  const files = await environment.namedFiles(text, NAMED_ROOM);
  return [
    `The user says meanwhile${wholeOf(text)}: ${text}`,
    ...files.map(({ path, about, text }) => `@${path} in this message: ${about}${text === null ? "" : `:\n${text}`}`),
  ];
}

function wholeOf(text: string): string {
  return text.length > WHOLE_CHARS ? " (whole text in the string $messages)" : "";
}

export function bindMessages({ environment, state }: Pick<ContextSource, "environment" | "state">): void {
  environment.bindSystem("$messages", state.said.join("\n\n"));
}

/** The other notes may ask for actions that the last call cannot take, so this note comes first. */
function lastNote(why: string, others: number): string {
  const still = others > 0 ? ", whatever a note below asks for" : "";
  return `${why}: this is the last call and no block runs any more${still}. Give "final" now: the best answer from the variables and results that exist, and what is missing.`;
}

async function nudges(source: ContextSource): Promise<string[]> {
  const { environment, active, state, repetition, log } = source;
  const own = builtinNudges({
    used: state.used,
    budget: state.budget,
    growth: state.growth,
    userVariables: environment.index.userCount(),
    offender: repetition.offender(),
    stale: repetition.isStale,
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

const CUT = { blocks: 5, chars: 300 };

/** The conversation in the stable prefix shows this answer at greater length, so the handover only refers to it. */
const IN_CONVERSATION = "the last answer in the conversation above";

export async function handoverIn(
  environment: Pick<Environment, "watchHook">,
  before: PreviousTurn | null,
): Promise<ContextParts["handover"]> {
  const changes = before?.changes;
  const undone = changes && environment.watchHook(changes.queryId)?.undone?.(changes.since);
  // Without the list, the handover is only less exact.
  return handoverOf(before, await undone?.catch(() => []));
}

export function handoverOf(
  before: PreviousTurn | null,
  undone: readonly UndoneChange[] = [],
): ContextParts["handover"] {
  if (!before) return null;
  const { text, thinkings, status, images = 0, pending = [], printed = "", since } = before;
  const diffs = [...before.changes?.diffs ?? [], ...undone.map(({ diff }) => diff)];
  const notes = [...before.notes ?? [], ...undoneNotes(undone)];
  const answer = before.only && status === "done" ? IN_CONVERSATION : before.answer;
  const files = new ChangedFiles();
  for (const diff of diffs) files.add(diff);
  const seen = images === 0 ? "" : `\n[with ${counted(images, "image")}, not shown again]`;
  return {
    request: text + seen,
    thinkings,
    ...(files.line === "" ? {} : { changed: files.line, diff: diffs.join("\n") }),
    answer: [answer, ...notes.map((note) => `[${note}]`), ...cutBlocks(pending)].join("\n"),
    ...(printed === "" ? {} : { printed }),
    ...(status === "done" ? {} : { unfinished: true }),
    ...(since ? { since: { request: since.text, answer: since.answer } } : {}),
  };
}

const MOST_UNDONE = 8;

export function undoneNotes(changes: readonly UndoneChange[]): readonly string[] {
  const note = (how: string, redo: boolean): readonly string[] => {
    const paths = changes.filter((one) => one.redo === redo).map(({ path }) => oneLine(path, 200));
    return paths.length === 0 ? [] : [`The user ${how}: ${someOf(paths, MOST_UNDONE)}`];
  };
  return [
    ...note("undid your changes of these files, so do not make them again unasked", false),
    ...note("reapplied your changes of these files", true),
  ];
}

/** These blocks ran when the process ended, so the model must check their effects before a repetition. */
export function cutBlocks(pending: readonly string[]): string[] {
  if (pending.length === 0) return [];
  const [these, it] = pending.length === 1 ? ["this block", "it"] : [`these ${pending.length} blocks`, "they"];
  const shown = pending.slice(0, CUT.blocks).map((code, at) => `[${at + 1}] ${clip(code, CUT.chars)}`);
  return [
    `It ended while ${these} ran. Variables that ${it} defined or changed are gone. Finished changes of files are kept, and other effects may have happened:`,
    ...shown,
  ];
}
