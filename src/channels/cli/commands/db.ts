import { durationText } from "../../../domain/text/duration_text.ts";
import { oneLine } from "../../../domain/text/clip.ts";
import type { DatabaseMaintenance, DatabaseStats } from "../../../domain/records/database_maintenance.ts";
import type { Io, Services } from "../../channel.ts";
import { visibleText } from "../../../domain/text/visible_text.ts";

interface Given {
  readonly services: Services;
  readonly io: Io;
  readonly flags: { readonly db?: string | undefined; readonly json: boolean };
  readonly now?: () => number;
}

/** The actions of `vis db`. Each resolves with the exit code and rejects like `DatabaseMaintenance`. */
export class DbCommand {
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  async backup(path: string): Promise<number> {
    const report = await (await this.#care()).backup(path);
    return this.#tell(report, [`Backed up ${size(report.bytes)} to ${report.path} in ${durationText(report.ms)}`]);
  }

  async restore(path: string): Promise<number> {
    const report = await (await this.#care()).restore(path);
    const kept = report.keptAs === null ? [] : [`The database that was there is now ${report.keptAs}`];
    return this.#tell(report, [`Restored ${size(report.bytes)} to ${report.path}`, ...kept]);
  }

  /** Resolves with 1 if a problem was found. */
  async check(): Promise<number> {
    const care = await this.#care();
    const report = await care.check();
    const { problems, contents, unused, ms } = report;
    const sound = `${care.location} is sound: ${counted(contents, "content")} read in ${durationText(ms)}`;
    const found = problems.map((problem) => `✗ ${problem}`);
    const mend = "Keep a copy of the file before anything else writes to it; vis db restore PATH brings a backup back";
    this.#tell(report, [
      ...(problems.length === 0 ? [sound] : [...found, mend]),
      ...(unused > 0 ? [`${counted(unused, "content")} no longer needed, vis db prune removes them`] : []),
    ]);
    return problems.length === 0 ? 0 : 1;
  }

  async stats(): Promise<number> {
    const stats = await (await this.#care()).stats();
    const { vis } = this.#given.services.version;
    return this.#tell({ ...stats, visVersion: vis }, statsLines(stats, vis));
  }

  async prune({ ageMs, dryRun }: { readonly ageMs: number; readonly dryRun: boolean }): Promise<number> {
    const { now = Date.now } = this.#given;
    const report = await (await this.#care()).prune({ before: now() - ageMs, dryRun });
    const { conversations, logRows, contents, contentBytes, everything } = report;
    const listed = conversations.map(({ conversationId, lastActivity, queries, title }) =>
      `${conversationId}  ${day(lastActivity)}  ${counted(queries, "query").padStart(11)}  ${oneLine(title, 60)}`
    );
    const what = `${counted(conversations.length, "conversation")} and ${counted(logRows, "log entry")}`;
    if (dryRun) {
      const more = conversations.length + logRows > 0 ? ["Add --yes to delete them"] : [];
      return this.#tell(report, [...listed, `Would delete ${what}`, ...more]);
    }
    return this.#tell(report, [
      ...listed,
      `Deleted ${what}, ${size(contentBytes)} of ${counted(contents, "content")} that nothing needs any more`,
      ...(everything ? [] : ["Vis is in use: what was stored in the last day is looked at the next time"]),
      "vis db vacuum gives the space back to the disk",
    ]);
  }

  async vacuum(): Promise<number> {
    const report = await (await this.#care()).vacuum();
    return this.#tell(report, [`${size(report.bytesBefore)} before, ${size(report.bytesAfter)} now`]);
  }

  #care(): Promise<DatabaseMaintenance> {
    const { services, flags } = this.#given;
    return services.databaseCare({ db: flags.db });
  }

  #tell(report: object, lines: readonly string[]): number {
    const { io, flags } = this.#given;
    const text = flags.json ? JSON.stringify(report, null, 2) : lines.map(visibleText).join("\n");
    io.stdout(`${text}\n`);
    return 0;
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
      `${conversationId}  ${size(bytes).padStart(9)}  ${queries} queries, ${iterations} iterations, ` +
      `${versions} versions  ${oneLine(title, 60)}`
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
