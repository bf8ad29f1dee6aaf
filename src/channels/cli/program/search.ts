import { type Command, InvalidArgumentError, Option } from "commander";
import { LOG_LEVELS, logLevelOf } from "../../../domain/records/history.ts";
import type { LogsFlags } from "../commands/logs.ts";
import { positiveInteger } from "../input/arguments.ts";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Parses `2026-11-22`, `2026-11-22T10:30` (local time) or `3d` (that long ago) into milliseconds since the epoch.
 * Throws commander's error for an invalid value. */
function timeArgument(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? [];
  if (number !== undefined) return Date.now() - Number(number) * (UNITS[unit] ?? 0);
  const day = /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? `${text.trim()}T00:00` : text.trim();
  const at = /^\d{4}-\d\d-\d\dT/.test(day) ? new Date(day).getTime() : NaN;
  if (Number.isFinite(at)) return at;
  throw new InvalidArgumentError(
    "It must be a date such as 2026-11-22, a time such as 2026-11-22T10:30, or an age such as 3d",
  );
}

function levelArgument(text: string): LogsFlags["level"] {
  const level = logLevelOf(text);
  if (level === null) throw new InvalidArgumentError(`It must be one of ${LOG_LEVELS.join(", ")}`);
  return level;
}

/** `vis search` and `vis logs`. */
export function addSearch(program: Command, context: Context): void {
  program.command("search")
    .description("search requests, code and answers of all conversations for all words, best matches first")
    .argument("<text...>", "words to search for")
    .option("--conversation <id>", "only this conversation; a unique prefix is enough")
    .addOption(new Option("--kind <kind>", "only this kind of text").choices(["request", "code", "answer"]))
    .option("--since <time>", "only after this time: 2026-11-22, 2026-11-22T10:30 or 3d (ago)", timeArgument)
    .option("--until <time>", "only before this time", timeArgument)
    .option("--limit <n>", "at most N results", positiveInteger, 20)
    .option(...FLAGS.storedDb)
    .option("--json", "print the results as JSON", false)
    .action(action(context, async () => (await import("../commands/search.ts")).searchCommand));
  program.command("logs")
    .description("show the log that is stored in the database, oldest first")
    .addOption(
      new Option("--level <level>", "minimum level").choices(LOG_LEVELS).argParser(levelArgument).default("info"),
    )
    .option("--conversation <id>", "only this conversation; a unique prefix is enough")
    .option("--query <id>", "only this request; a unique prefix of its id is enough")
    .option("--since <time>", "only after this time: 2026-11-22, 2026-11-22T10:30 or 3d (ago)", timeArgument)
    .option("--limit <n>", "at most N entries, the newest", positiveInteger, 100)
    .option("-f, --follow", "keep printing new entries until Ctrl-C", false)
    .option(...FLAGS.storedDb)
    .option("--json", "print one JSON object per line", false)
    .action(action(context, async () => (await import("../commands/logs.ts")).logsCommand));
}
