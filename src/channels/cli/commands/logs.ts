import { DEFAULT_TENANT } from "../../../domain/kit/ids.ts";
import { clip, localTime, oneLine, visibleText } from "../../../domain/kit/text.ts";
import { REAL_CLOCK } from "../../../domain/kit/time.ts";
import type { LogEntry, LogRow } from "../../../domain/records/history.ts";
import { interrupt, jsonText } from "../output.ts";
import type { CommandInput } from "../program/command.ts";
import { browse } from "./with_session.ts";

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

/** `vis logs`: one line per entry, oldest first; with `--follow` until Ctrl-C. `pause` waits between polls. */
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
