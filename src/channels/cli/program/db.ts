import { type Command, InvalidArgumentError } from "commander";
import { FLAGS } from "../input/flags.ts";
import { action } from "./action.ts";
import type { Context } from "./context.ts";

const DAY_MS = 86_400_000;

/** `vis db`: database maintenance. */
export function addDb(program: Command, context: Context): void {
  const group = program.command("db").description(
    "database maintenance: backup, restore, check, stats, prune, vacuum, copy",
  );
  const load = async () => await import("../commands/db.ts");
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.storedDb)
      .option("--json", "print the report as JSON", false);
  add("backup", "back up the database to a new file, even while requests run")
    .argument("<path>", "path of the new file")
    .action(action(context, async () => (await load()).dbBackup));
  add("restore", "restore a backup; the previous database file is kept next to it")
    .argument("<path>", "backup written by vis db backup")
    .action(action(context, async () => (await load()).dbRestore));
  add("check", "verify the database: structure, references, hashes of all content")
    .action(action(context, async () => (await load()).dbCheck));
  add("stats", "show sizes of tables and content, the largest conversations, versions")
    .action(action(context, async () => (await load()).dbStats));
  add("prune", "delete conversations that have been inactive for a time, and the content only they used")
    .requiredOption("--older-than <age>", "minimum time without activity, such as 30d, 12h or 6w", age)
    .option("-y, --yes", "confirm; without this option only list what would be deleted", false)
    .action(action(context, async () => (await load()).dbPrune));
  add("vacuum", "return the space of deleted data to the disk")
    .action(action(context, async () => (await load()).dbVacuum));
  group.command("copy")
    .description(
      "copy everything to a PostgreSQL database or from one, and compare every row; run it again to continue",
    )
    .argument("<from>", "file, or postgres://user@host/name")
    .argument("<to>", "the other of the two: an empty database, or a new file")
    .option("--json", "print the report as JSON", false)
    .action(action(context, async () => (await import("../commands/copy_database.ts")).copyDatabaseCommand));
}

const UNITS: Readonly<Record<string, number>> = { h: DAY_MS / 24, d: DAY_MS, w: 7 * DAY_MS };

/** Milliseconds. */
function age(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([hdw])$/.exec(text.trim()) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? NaN);
  if (number === "" || !Number.isFinite(ms)) {
    throw new InvalidArgumentError("It must be an age in hours, days or weeks, such as 12h, 30d or 6w");
  }
  return ms;
}
