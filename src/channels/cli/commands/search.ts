import pc from "picocolors";
import { REAL_CLOCK } from "../../../domain/kit/concurrency.ts";
import { DEFAULT_TENANT } from "../../../domain/kit/ids.ts";
import { ago, clip, localTime, oneLine, visibleText } from "../../../domain/kit/text.ts";
import {
  bestHits,
  type LogEntry,
  type LogRow,
  othersText,
  type SearchHit,
  type SearchKind,
} from "../../../domain/records/history.ts";
import type { Io } from "../../channel.ts";
import { interrupt, jsonText } from "../output.ts";
import { browse, type CommandInput } from "../program/command.ts";

interface SearchFlags {
  readonly conversation?: string | undefined;
  readonly kind?: SearchKind | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly limit: number;
  readonly db?: string | undefined;
  readonly json: boolean;
}

/** Several matches can belong to one conversation, so a list of conversations reads more than `limit` matches. */
const HITS_EACH = 10;

export async function searchCommand(
  words: readonly string[],
  { services, io, flags }: CommandInput<SearchFlags>,
): Promise<number> {
  const { kind, since, until, limit } = flags;
  const text = words.join(" ");
  return await browse({ services, flags }, async ({ conversations }) => {
    const within = flags.conversation === undefined ? null : await conversations.byId(flags.conversation);
    const isAll = flags.json || within !== null;
    const most = isAll ? limit : limit * HITS_EACH;
    const filter = { kind, since, until, limit: most, conversationId: within?.conversationId };
    const hits = await conversations.stored.search(text, filter);
    if (flags.json) io.stdout(jsonText(hits, { indent: 2 }));
    else {
      const isCut = hits.length === most;
      const found = isAll ? hits.map((hit) => ({ hit, others: 0 })) : bestHits(hits).slice(0, limit);
      const shown = found.map(({ hit, others }) => ({ hit, more: othersText(others, isCut) }));
      if (io.stdoutIsTerminal) {
        for (const line of foundLines(shown, { text, io, now: Date.now() })) io.stdout(`${line}\n`);
      } else for (const one of shown) io.stdout(`${visibleText(lines(one))}\n`);
    }
    if (hits.length === 0) io.stderr("No results\n");
    return hits.length === 0 ? 1 : 0;
  });
}

interface ShownHit {
  readonly hit: SearchHit;
  readonly more: string;
}

function lines({ hit, more }: ShownHit): string {
  const { at, conversationId, title, snippet } = hit;
  const beginning = `${conversationId}  ${localTime(at)}  ${placeOf(hit)}  ${oneLine(title, 60)}`;
  return [beginning, oneLine(snippet, 400), more].filter((line) => line !== "").join("\n  ");
}

const ID_CHARS = 13;

const STEM = 3;

function foundLines(
  shown: readonly ShownHit[],
  { text, io, now }: { readonly text: string; readonly io: Pick<Io, "stdoutColor">; readonly now: number },
): readonly string[] {
  const color = pc.createColors(io.stdoutColor);
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const bold = (snippet: string): string =>
    snippet.replace(/\[([^[\]]+)\]/g, (whole, found: string) => isOf(found, words) ? color.bold(found) : whole);
  const groups = Map.groupBy(shown, ({ hit }) => hit.conversationId);
  return [...groups].flatMap(([id, places]) => [
    `${color.cyan(id.slice(0, ID_CHARS))}  ${color.bold(visibleText(oneLine(places[0]?.hit.title ?? "", 80)))}`,
    ...places.flatMap(({ hit, more }) => [
      `  ${color.dim(visibleText(`${placeOf(hit)} · ${ago(hit.at, now)}`))}`,
      `    ${bold(visibleText(oneLine(hit.snippet, 400)))}`,
      ...more === "" ? [] : [`    ${color.dim(more)}`],
    ]),
  ]);
}

function isOf(found: string, words: readonly string[]): boolean {
  const start = (word: string): string => word.normalize("NFD").replace(/[\u0300-\u036f]/g, "").slice(0, STEM);
  return words.some((word) => start(found.toLowerCase()) === start(word.replace(/^\W+/, "")));
}

function placeOf({ kind, position, variable }: SearchHit): string {
  const step = position === null ? [] : [`step ${position + 1}`];
  return [kind, ...step, ...(variable === null ? [] : [variable])].join(" · ");
}

export interface LogsFlags {
  readonly level: LogEntry["level"];
  readonly conversation?: string | undefined;
  readonly query?: string | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
  readonly follow: boolean;
  readonly db?: string | undefined;
  readonly json: boolean;
}

const AT_ONCE = 500;
const PAUSE_MS = 500;
const DATA_CHARS = 1_000;

export async function logsCommand(
  { services, io, flags, pause = (signal) => REAL_CLOCK.sleep(PAUSE_MS, signal).catch(() => {}) }:
    & CommandInput<LogsFlags>
    & {
      readonly pause?: (signal: AbortSignal) => Promise<void>;
    },
): Promise<number> {
  const { level, since, limit, follow, json } = flags;
  return await browse({ services, flags }, async (session) => {
    const conversations = session.conversations.of({ tenant: DEFAULT_TENANT, all: true });
    using interrupted = follow ? interrupt(io) : null;
    const within = flags.conversation === undefined ? null : await conversations.byId(flags.conversation);
    const queryId = flags.query === undefined ? undefined : await conversations.records.queryId(flags.query);
    const filter = { level, since, conversationId: within?.conversationId, queryId };
    const print = (rows: readonly LogRow[]): void => {
      for (const row of rows) io.stdout(json ? jsonText(row) : `${visibleText(line(row))}\n`);
    };
    const rows = await conversations.stored.logs({ ...filter, limit });
    print(rows);
    if (rows.length === 0 && !json && !follow) io.stdout("No matching log entries\n");
    for (let after = rows.at(-1)?.seq ?? 0; interrupted && !interrupted.signal.aborted;) {
      await pause(interrupted.signal);
      const more = await conversations.stored.logs({ ...filter, after, limit: AT_ONCE });
      print(more);
      after = more.at(-1)?.seq ?? after;
    }
    return 0;
  });
}

function line({ at, level, event, data, conversationId, queryId }: LogRow): string {
  const when = localTime(at, "ms");
  const scope = queryId ?? conversationId;
  const about = [...(scope === undefined ? [] : [scope]), clip(JSON.stringify(data), DATA_CHARS)];
  return `${when} ${level.padEnd(5)} ${oneLine(event, 80)}  ${about.join("  ")}`;
}
