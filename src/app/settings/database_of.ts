import { join, resolve } from "node:path";
import { ConfigError, messageOf } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";

/** Where the database is. */
export interface ChosenDatabase {
  /** A file, ":memory:", or the URL of a PostgreSQL database without its password. */
  readonly database: string;
  /** The password of a PostgreSQL database. It is never printed, stored or logged. */
  readonly databasePassword?: string;
}

/** Chooses the database: the flag comes before the environment, and that before the settings. Throws `ConfigError`. */
export async function databaseOf({ flag, setting, env, home }: {
  readonly flag: string | undefined;
  readonly setting: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
}): Promise<ChosenDatabase> {
  const told = flag || env["VIS_DATABASE_URL"] || env["VIS_DB"] || setting;
  if (!told) {
    if (home !== null) return { database: join(home, "vis.db") };
    throw new ConfigError("Cannot find a home folder: set VIS_HOME to a folder that Vis may write");
  }
  if (told === ":memory:") return { database: told };
  if (!isPostgres(told)) return { database: resolve(told) };
  const [, before = "", inUrl, after = ""] = /^(postgres(?:ql)?:\/\/[^:@/?]*)(?::([^@/?]*))?(.*)$/.exec(told) ?? [];
  const password = env["VIS_DATABASE_PASSWORD"] || await passwordIn(env["VIS_DATABASE_PASSWORD_FILE"]) ||
    (inUrl === undefined ? undefined : decodeURIComponent(inUrl));
  return { database: `${before}${after}`, ...(password ? { databasePassword: password } : {}) };
}

async function passwordIn(path: string | undefined): Promise<string> {
  if (!path) return "";
  try {
    return (await Deno.readTextFile(path)).trimEnd();
  } catch (error) {
    throw new ConfigError(`Cannot read the password of the database from ${path}: ${messageOf(error)}`, {
      code: "access",
    });
  }
}
