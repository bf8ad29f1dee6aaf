import { oneLine } from "../../domain/clip.ts";
import { compareRecordings, type RecordingDifference } from "../../domain/compare_recordings.ts";
import { UsageError } from "../../domain/errors.ts";
import { Playback } from "../../domain/playback.ts";
import type { RecordedQuery, Recording } from "../../domain/recording.ts";
import type { Io, Services, Session } from "../channel.ts";
import { terminalText } from "./terminal_text.ts";

export interface ReplayFlags {
  readonly query?: number | undefined;
  readonly json: boolean;
  readonly db?: string | undefined;
  readonly cwd?: string | undefined;
}

interface QueryReport {
  /** 1-based. */
  readonly query: number;
  readonly request: string;
  readonly same: boolean;
  readonly differences: readonly RecordingDifference[];
}

/** `vis replay`: plays the recorded replies of a conversation again, in a scratch database, and lists what came out
 * otherwise. Resolves with 0 when nothing did, 1 when something did, 130 when it was cancelled. */
export async function replayCommand(
  id: string,
  { services, io, flags }: { readonly services: Services; readonly io: Io; readonly flags: ReplayFlags },
): Promise<number> {
  // Stays open: a large context is read piece by piece while it is played.
  const stored = await services.open({ db: flags.db, cwd: flags.cwd, browse: true });
  try {
    const { conversations } = stored;
    const recording = await conversations.recording(await conversations.byId(id));
    return await replay(recording, { services, io, flags });
  } finally {
    await stored.close();
  }
}

async function replay(
  recording: Recording,
  { services, io, flags }: { readonly services: Services; readonly io: Io; readonly flags: ReplayFlags },
): Promise<number> {
  const count = flags.query ?? recording.queries.length;
  if (count > recording.queries.length) {
    throw new UsageError(`Cannot replay query ${count}: the conversation has ${recording.queries.length}`);
  }
  const playback = new Playback(recording);
  const session = await services.open({ db: ":memory:", cwd: flags.cwd, playback });
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  try {
    const { workspace } = session;
    const elsewhere = recording.workspace === workspace ? "" : ` (recorded in ${recording.workspace})`;
    const of = `replay · ${count} of ${recording.queries.length} queries`;
    io.stderr(terminalText(`${of} · blocks run for real in ${workspace}${elsewhere}\n`));
    const played = await play(recording, { session, playback, count, signal: controller.signal });
    if (controller.signal.aborted) return 130;
    const reports = reportsOf(recording, { played, only: flags.query ?? null });
    io.stdout(flags.json ? `${JSON.stringify(facts(recording, reports), null, 2)}\n` : text(reports));
    return reports.every(({ same }) => same) ? 0 : 1;
  } finally {
    stop();
    await session.close();
  }
}

/** Queries up to the one that is asked for: its variables come out of those before it. */
async function play(
  recording: Recording,
  { session, playback, count, signal }: {
    readonly session: Session;
    readonly playback: Playback;
    readonly count: number;
    readonly signal: AbortSignal;
  },
): Promise<Recording> {
  const { conversations, workspace } = session;
  const branch = await conversations.create({ title: recording.title, channel: "replay", workspace });
  for (const [at, { text, images, answerSchema, context, iterations }] of recording.queries.slice(0, count).entries()) {
    if (signal.aborted) break;
    playback.begin(at);
    await conversations.send(branch, text, {
      signal,
      emit: () => {},
      images,
      // What an older record does not say is enough for all that it holds.
      maxIterations: iterations[0]?.budget ?? Math.max(1, iterations.length),
      ...(answerSchema === null ? {} : { responseSchema: answerSchema }),
      ...(context === null ? {} : { context: { ...context, pieces: context.pieces() } }),
    });
  }
  return await conversations.recording(branch);
}

function reportsOf(
  recording: Recording,
  { played, only }: { readonly played: Recording; readonly only: number | null },
): QueryReport[] {
  return played.queries.flatMap((replayed, at) => {
    const recorded: RecordedQuery | undefined = recording.queries[at];
    if (!recorded || (only !== null && at !== only - 1)) return [];
    const differences = compareRecordings(recorded, replayed);
    return [{ query: at + 1, request: recorded.text, same: differences.length === 0, differences }];
  });
}

function facts({ conversationId }: Recording, queries: readonly QueryReport[]): object {
  return { conversationId, provider: "replay", same: queries.every(({ same }) => same), queries };
}

function text(reports: readonly QueryReport[]): string {
  const lines = reports.flatMap(({ query, request, same, differences }) => [
    `query ${query} ${same ? "same" : `${differences.length} differences`} · ${oneLine(request, 80)}`,
    ...differences.flatMap(({ place, field, recorded, replayed }) => [
      `  ${place === "" ? field : `${place}: ${field}`}`,
      `    - ${oneLine(recorded, 200)}`,
      `    + ${oneLine(replayed, 200)}`,
    ]),
  ]);
  return lines.map((line) => `${terminalText(line)}\n`).join("");
}
