import { UsageError } from "../../../domain/errors.ts";
import { counted, countedChoice, oneLine, visibleText } from "../../../domain/kit/text.ts";
import {
  compareRecordings,
  type PathMap,
  Playback,
  type RecordedQuery,
  type Recording,
  type RecordingDifference,
  type ReplayPlace,
} from "../../../domain/records/recording.ts";
import type { Services, Session } from "../../channel.ts";
import { interrupt, jsonText } from "../output.ts";
import { browse, type CommandInput, withSession } from "../program/command.ts";

interface ReplayFlags {
  readonly query?: number | undefined;
  readonly inPlace: boolean;
  readonly json: boolean;
  readonly db?: string | undefined;
  readonly cwd?: string | undefined;
}

interface QueryReport {
  readonly query: number;
  readonly request: string;
  readonly same: boolean;
  readonly differences: readonly RecordingDifference[];
}

export async function replayCommand(
  id: string,
  { services, io, flags }: CommandInput<ReplayFlags>,
): Promise<number> {
  // The session stays open, because the replay reads a large context in parts.
  return await browse({ services, flags }, async ({ conversations }) => {
    const recording = await conversations.recording(await conversations.byId(id));
    return await replay(recording, { services, io, flags });
  });
}

async function replay(
  recording: Recording,
  { services, io, flags }: CommandInput<ReplayFlags>,
): Promise<number> {
  if (recording.queries.length === 0) {
    throw new UsageError("Cannot replay the branch: it has no request; send one first");
  }
  const count = flags.query ?? recording.queries.length;
  if (count > recording.queries.length) {
    throw new UsageError(
      `Cannot replay request ${count}: the branch has ${countedChoice(recording.queries.length, "request")}`,
    );
  }
  using interrupted = interrupt(io);
  const { signal } = interrupted;
  const place = await services.replayPlace({
    cwd: flags.cwd,
    recorded: recording.workspace,
    inPlace: flags.inPlace,
    signal,
  });
  try {
    const of = `replay · ${count} of ${counted(recording.queries.length, "request")}`;
    io.stderr(visibleText(`${of} · ${whereText(place, recording)}\n`));
    const played = await playIn(place, { recording, services, flags, count, signal });
    if (signal.aborted) return 130;
    const reports = reportsOf(recording, { played, paths: place.paths, only: flags.query ?? null });
    io.stdout(flags.json ? jsonText(facts(recording, reports), { indent: 2 }) : text(reports));
    return reports.every(({ same }) => same) ? 0 : 1;
  } finally {
    await place.close();
  }
}

function whereText({ workspace, copied }: ReplayPlace, recording: Recording): string {
  const { from = workspace, files = 0, bytes = 0, leftOut = 0 } = copied ?? {};
  const elsewhere = recording.workspace === from ? "" : ` (recorded in ${recording.workspace})`;
  if (!copied) return `the code runs in ${workspace} itself${elsewhere}`;
  const left = leftOut === 0 ? "" : `, without ${counted(leftOut, "entry")} that Vis could not copy`;
  return `in a copy of ${from}${elsewhere}: ${counted(files, "file")}, ${sizeText(bytes)}${left}`;
}

function sizeText(bytes: number): string {
  if (bytes < 1e6) return bytes < 1e3 ? `${bytes} bytes` : `${(bytes / 1e3).toFixed(1)} KB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function playIn(
  { workspace, home, paths }: ReplayPlace,
  { recording, services, flags, count, signal }: {
    readonly recording: Recording;
    readonly services: Services;
    readonly flags: ReplayFlags;
    readonly count: number;
    readonly signal: AbortSignal;
  },
): Promise<Recording> {
  const playback = new Playback(recording, { paths });
  // The original workspace provides settings and extensions, but the requests run in the place of the replay.
  const opening = services.open({ db: ":memory:", cwd: flags.cwd, playback, extensionHome: home });
  return await withSession(opening, (session) => play(recording, { session, workspace, playback, count, signal }));
}

async function play(
  recording: Recording,
  { session: { conversations }, workspace, playback, count, signal }: {
    readonly session: Session;
    readonly workspace: string;
    readonly playback: Playback;
    readonly count: number;
    readonly signal: AbortSignal;
  },
): Promise<Recording> {
  const branch = await conversations.create({ title: recording.title, channel: "replay", workspace });
  for (
    const [at, { text, images, only, answerSchema, context, iterations }] of recording.queries.slice(0, count).entries()
  ) {
    if (signal.aborted) break;
    playback.begin(at);
    await conversations.ask(branch, text, {
      signal,
      emit: () => {},
      images,
      only,
      // Recordings of older versions have no budget.
      maxIterations: iterations[0]?.budget ?? Math.max(1, iterations.length),
      extendsTo: Math.max(1, ...iterations.map(({ budget }) => budget ?? iterations.length)),
      ...(answerSchema === null ? {} : { responseSchema: answerSchema }),
      ...(context === null ? {} : { context: { ...context, encoding: "utf-8", pieces: context.pieces() } }),
    });
  }
  return await conversations.recording(branch);
}

function reportsOf(
  recording: Recording,
  { played, paths, only }: { readonly played: Recording; readonly paths: PathMap; readonly only: number | null },
): QueryReport[] {
  return played.queries.flatMap((replayed, at) => {
    const recorded: RecordedQuery | undefined = recording.queries[at];
    if (!recorded || (only !== null && at !== only - 1)) return [];
    const differences = compareRecordings(recorded, replayed, { paths });
    return [{ query: at + 1, request: recorded.text, same: differences.length === 0, differences }];
  });
}

function facts({ conversationId }: Recording, queries: readonly QueryReport[]): object {
  return { conversationId, provider: "replay", same: queries.every(({ same }) => same), queries };
}

function text(reports: readonly QueryReport[]): string {
  const lines = reports.flatMap(({ query, request, same, differences }) => [
    `request ${query} ${same ? "same" : counted(differences.length, "difference")} · ${oneLine(request, 80)}`,
    ...differences.flatMap(({ place, field, recorded, replayed }) => [
      `  ${place === "" ? field : `${place}: ${field}`}`,
      `    - ${oneLine(recorded, 200)}`,
      `    + ${oneLine(replayed, 200)}`,
    ]),
  ]);
  return lines.map((line) => `${visibleText(line)}\n`).join("");
}
