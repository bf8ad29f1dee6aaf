import { durationText } from "../../../domain/text/duration_text.ts";
import { oneLine } from "../../../domain/text/clip.ts";
import type { DatabaseMaintenance, DatabaseStats } from "../../../domain/records/database_maintenance.ts";
import type { StoredCommand } from "../input/command_input.ts";
import { printReport } from "../output/print_report.ts";

type DbInput = StoredCommand<{ readonly json: boolean }> & { readonly now?: () => number };

/** The actions of `vis db`. Each resolves with the exit code and rejects like `DatabaseMaintenance`. */
export class DbCommand {
  readonly #parts: DbInput;

  constructor(parts: DbInput) {
    this.#parts = parts;
  }

  async backup(path: string): Promise<number> {
    const report = await (await this.#maintenance()).backup(path);
    return printReport(report, [
      `Backed up ${size(report.bytes)} to ${report.path} in ${durationText(report.ms)}`,
    ], this.#parts);
  }

  async restore(path: string): Promise<number> {
    const report = await (await this.#maintenance()).restore(path);
    const kept = report.keptAs === null ? [] : [`The previous database is now ${report.keptAs}`];
    return printReport(report, [`Restored ${size(report.bytes)} to ${report.path}`, ...kept], this.#parts);
  }

  /** Resolves with 1 if a problem was found. */
  async check(): Promise<number> {
    const database = await this.#maintenance();
    const report = await database.check();
    const { problems, contents, unused, ms } = report;
    const sound = `${database.location} is sound: ${counted(contents, "content")} read in ${durationText(ms)}`;
    const found = problems.map((problem) => `✗ ${problem}`);
    const advice = "Copy the file before anything else writes to it. To restore a backup: vis db restore PATH";
    printReport(report, [
      ...(problems.length === 0 ? [sound] : [...found, advice]),
      ...(unused > 0 ? [`${counted(unused, "content")} no longer needed; vis db prune deletes them`] : []),
    ], this.#parts);
    return problems.length === 0 ? 0 : 1;
  }

  async stats(): Promise<number> {
    const stats = await (await this.#maintenance()).stats();
    const { vis } = this.#parts.services.version;
    return printReport({ ...stats, visVersion: vis }, statsLines(stats, vis), this.#parts);
  }

  async prune({ ageMs, dryRun }: { readonly ageMs: number; readonly dryRun: boolean }): Promise<number> {
    const { now = Date.now } = this.#parts;
    const report = await (await this.#maintenance()).prune({ before: now() - ageMs, dryRun });
    const { conversations, logRows, contents, contentBytes, everything } = report;
    const listed = conversations.map(({ conversationId, lastActivity, queries, title }) =>
      `${conversationId}  ${day(lastActivity)}  ${counted(queries, "request").padStart(12)}  ${oneLine(title, 60)}`
    );
    const what = `${counted(conversations.length, "conversation")} and ${counted(logRows, "log entry")}`;
    if (dryRun) {
      const more = conversations.length + logRows > 0 ? ["Add --yes to delete them"] : [];
      return printReport(report, [...listed, `Would delete ${what}`, ...more], this.#parts);
    }
    return printReport(report, [
      ...listed,
      `Deleted ${what}, ${size(contentBytes)} of ${counted(contents, "content")} no longer needed`,
      ...(everything ? [] : ["Vis is in use: content stored during the last day is checked at the next run"]),
      "vis db vacuum returns the space to the disk",
    ], this.#parts);
  }

  async vacuum(): Promise<number> {
    const report = await (await this.#maintenance()).vacuum();
    return printReport(report, [`${size(report.bytesBefore)} before, ${size(report.bytesAfter)} now`], this.#parts);
  }

  #maintenance(): Promise<DatabaseMaintenance> {
    const { services, flags } = this.#parts;
    return services.databaseCare({ db: flags.db });
  }
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
  return new Date(ms).toISOString().slice(0, 10);
}

function counted(n: number, one: string): string {
  return `${n} ${n === 1 ? one : one.endsWith("y") ? `${one.slice(0, -1)}ies` : `${one}s`}`;
}
