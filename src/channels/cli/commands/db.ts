import { counted, durationText, localTime, oneLine } from "../../../domain/kit/text.ts";
import type {
  DatabaseCopyProgress,
  DatabaseMaintenance,
  DatabaseStats,
} from "../../../domain/records/database_maintenance.ts";
import { interrupt, printReport } from "../output.ts";
import type { CommandInput, StoredCommand } from "../program/command.ts";

type Input = StoredCommand<{ readonly json: boolean }>;

export async function dbBackup(path: string, input: Input): Promise<number> {
  const report = await (await maintenance(input)).backup(path);
  const { bytes, path: written, ms } = report;
  return printReport(report, [`Backed up ${size(bytes)} to ${written} in ${durationText(ms)}`], input);
}

export async function dbRestore(path: string, input: Input): Promise<number> {
  const report = await (await maintenance(input)).restore(path);
  const kept = report.keptAs === null ? [] : [`The previous database is now ${report.keptAs}`];
  return printReport(report, [`Restored ${size(report.bytes)} to ${report.path}`, ...kept], input);
}

export async function dbCheck(input: Input): Promise<number> {
  const database = await maintenance(input);
  const report = await database.check();
  const { problems, contents, unused, ms } = report;
  const sound = `${database.location} is sound: ${counted(contents, "content")} read in ${durationText(ms)}`;
  const found = problems.map((problem) => `✗ ${problem}`);
  const advice =
    "Before anything else writes to the database, copy its file with the files -wal and -shm. To restore a backup: vis db restore PATH";
  printReport(report, [
    ...(problems.length === 0 ? [sound] : [...found, advice]),
    ...(unused > 0
      ? [
        `${
          counted(unused, "content")
        } no longer needed; vis db prune --older-than TIME --yes deletes them, with older conversations`,
      ]
      : []),
  ], input);
  return problems.length === 0 ? 0 : 1;
}

export async function dbStats(input: Input): Promise<number> {
  const stats = await (await maintenance(input)).stats();
  const { vis } = input.services.version;
  return printReport({ ...stats, visVersion: vis }, statsLines(stats, vis), input);
}

export async function dbPrune(
  input: StoredCommand<{ readonly json: boolean; readonly olderThan: number; readonly yes: boolean }>,
): Promise<number> {
  const { olderThan, yes } = input.flags;
  const report = await (await maintenance(input)).prune({ before: Date.now() - olderThan, dryRun: !yes });
  const { conversations, logRows, contents, contentBytes, everything } = report;
  const listed = conversations.map(({ conversationId, lastActivity, queries, title }) =>
    `${conversationId}  ${day(lastActivity)}  ${counted(queries, "request").padStart(12)}  ${oneLine(title, 60)}`
  );
  const what = `${counted(conversations.length, "conversation")} and ${counted(logRows, "log entry")}`;
  if (!yes) {
    const more = conversations.length + logRows > 0 ? ["Add --yes to delete them"] : [];
    return printReport(report, [...listed, `Would delete ${what}`, ...more], input);
  }
  return printReport(report, [
    ...listed,
    `Deleted ${what}, ${size(contentBytes)} of ${counted(contents, "content")} no longer needed`,
    ...(everything
      ? []
      : ["Another process uses the database, so a later vis db prune checks the content of the last day"]),
    "vis db vacuum returns the space to the disk",
  ], input);
}

export async function dbVacuum(input: Input): Promise<number> {
  const report = await (await maintenance(input)).vacuum();
  return printReport(report, [`${size(report.bytesBefore)} before, ${size(report.bytesAfter)} now`], input);
}

function maintenance({ services, flags }: StoredCommand<unknown>): Promise<DatabaseMaintenance> {
  return services.databaseCare({ db: flags.db });
}

function statsLines(stats: DatabaseStats, vis: string): string[] {
  const { path, fileBytes, walBytes, freeBytes, schemaVersion, sqliteVersion, tables, content, conversations } = stats;
  const head = [
    path,
    `${size(fileBytes)} file, ${size(walBytes)} log, ${size(freeBytes)} free · ` +
    `schema V${schemaVersion}, vis ${vis}, SQLite ${sqliteVersion}`,
  ];
  const parts = [
    tables.filter(({ rows }) => rows > 0)
      .map(({ table, rows, bytes }) =>
        `${table.padEnd(24)} ${String(rows).padStart(9)} rows ${size(bytes).padStart(10)}`
      ),
    content.map(({ encoding, rows, bytes }) =>
      `${`content: ${encoding}`.padEnd(24)} ${String(rows).padStart(9)} rows ${size(bytes).padStart(10)}`
    ),
    conversations.map(({ conversationId, queries, iterations, versions, bytes, title }) =>
      `${conversationId}  ${size(bytes).padStart(9)}  ${counted(queries, "request")}, ${
        counted(iterations, "step")
      }, ` +
      `${counted(versions, "version")}  ${oneLine(title, 60)}`
    ),
  ];
  return [head, ...parts.filter((part) => part.length > 0)].flatMap((part, at) => at === 0 ? part : ["", ...part]);
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["KB", "MB", "GB", "TB"];
  const at = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  const number = bytes / 1000 ** at;
  return `${number.toFixed(number < 10 ? 1 : 0)} ${units[at - 1]}`;
}

function day(ms: number): string {
  return localTime(ms, "day");
}

const CLEAR_LINE = "\r\x1b[K";

export async function copyDatabaseCommand(
  from: string,
  to: string,
  { services, io, flags }: CommandInput<{ readonly json: boolean }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const show = (text: string) => io.stderrIsTerminal && io.stderr(CLEAR_LINE + text);
  try {
    const { signal } = interrupted;
    const report = await services.copyDatabase({ from, to, signal, onProgress: (progress) => show(lineOf(progress)) });
    show("");
    const { rows, ms } = report;
    return printReport(report, [
      `Copied ${report.from} to ${report.to}: ${rows} rows, each compared, in ${durationText(ms)}`,
    ], { io, flags });
  } catch (error) {
    show("");
    throw error;
  }
}

function lineOf({ step, rows, of }: DatabaseCopyProgress): string {
  return `${step === "copying" ? "Copying" : "Comparing"} row ${rows} of ${of}`;
}
