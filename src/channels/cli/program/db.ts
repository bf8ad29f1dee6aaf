import { type Command, InvalidArgumentError } from "commander";
import type { Context } from "./context.ts";
import { FLAGS } from "../input/flags.ts";

interface Flags {
  readonly db?: string;
  readonly json: boolean;
}

const DAY_MS = 86_400_000;

/** `vis db`: database maintenance. */
export function addDb(program: Command, { services, io, finish }: Context): void {
  const group = program.command("db").description(
    "care of the database: backup, restore, check, stats, prune, vacuum",
  );
  const load = async () => (await import("../commands/db.ts")).DbCommand;
  const add = (name: string, description: string): Command =>
    group.command(name).description(description)
      .option(...FLAGS.storedDb)
      .option("--json", "print the report as JSON", false);
  const command = async (flags: Flags) => new (await load())({ services, io, flags });
  add("backup", "copy the database into a new file, also while turns run")
    .argument("<path>", "the new file")
    .action(async (path: string, flags: Flags) => finish(await (await command(flags)).backup(path)));
  add("restore", "put a backup in the place of the database; the old file is kept beside it")
    .argument("<path>", "a file that vis db backup made")
    .action(async (path: string, flags: Flags) => finish(await (await command(flags)).restore(path)));
  add("check", "read everything: structure, references, hashes of all content")
    .action(async (flags: Flags) => finish(await (await command(flags)).check()));
  add("stats", "sizes of tables and content, the largest conversations, versions")
    .action(async (flags: Flags) => finish(await (await command(flags)).stats()));
  add("prune", "delete conversations without activity for a time, and what only they needed")
    .requiredOption("--older-than <age>", "such as 30d, 12h or 6w", age)
    .option("-y, --yes", "delete; without it, only list what would be deleted", false)
    .action(async (flags: Flags & { olderThan: number; yes: boolean }) =>
      finish(await (await command(flags)).prune({ ageMs: flags.olderThan, dryRun: !flags.yes }))
    );
  add("vacuum", "give the space of what was deleted back to the disk")
    .action(async (flags: Flags) => finish(await (await command(flags)).vacuum()));
}

const UNITS: Readonly<Record<string, number>> = { h: DAY_MS / 24, d: DAY_MS, w: 7 * DAY_MS };

/** Milliseconds. */
function age(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,6})([hdw])$/.exec(text.trim()) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? NaN);
  if (number === "" || !Number.isFinite(ms)) {
    throw new InvalidArgumentError("It must be a number of hours, days or weeks, such as 12h, 30d or 6w");
  }
  return ms;
}
