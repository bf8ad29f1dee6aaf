import { BusyError, StoreError, type StoreErrorCode, UsageError } from "../../domain/errors.ts";
import { Damage } from "../database.ts";

/** The SQLSTATE classes and codes are from https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const RULES: readonly (readonly [RegExp, StoreErrorCode, string])[] = [
  [
    /^28P01/,
    "unavailable",
    "PostgreSQL refused the user or the password; check the user in the URL, and the password in " +
    "VIS_DATABASE_PASSWORD, VIS_DATABASE_PASSWORD_FILE or the URL",
  ],
  [
    /^28/,
    "unavailable",
    "PostgreSQL refused the user, the address of this machine, or a connection without TLS; check the user in the " +
    "URL, and pg_hba.conf of the server",
  ],
  [/^3D000/, "unavailable", "PostgreSQL has no such database; create it with CREATE DATABASE"],
  [/^42501/, "unavailable", "the database user lacks a right; make this user the owner of the database and its tables"],
  [
    /^25006/,
    "readonly",
    "PostgreSQL or the database is read-only; give the address of the primary server, or turn " +
    "default_transaction_read_only off",
  ],
  [/^53100/, "full", "the disk of the PostgreSQL server is full; free space and try again"],
  [/^53/, "busy", "PostgreSQL has too many connections, too little memory or another exceeded limit; try again"],
  [
    /^57014/,
    "busy",
    "PostgreSQL cancelled an operation, because of statement_timeout or a request to cancel it; try again",
  ],
  [/^(40|55P03)/, "busy", "another operation on the database conflicts with this one; try again"],
  [/^XX00[12]/, "corrupt", "PostgreSQL reports damaged data; restore a backup"],
];

/** The patterns match messages, because older runtimes report no code for faults of TLS. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*SASL: .*\bpassword must be/,
    "PostgreSQL requires a password; set VIS_DATABASE_PASSWORD or VIS_DATABASE_PASSWORD_FILE",
  ],
  [
    /CERT_(?:HAS_EXPIRED|NOT_YET_VALID)|certificate.*(?:expired|NotValidYet|not yet valid)/i,
    "the certificate of the PostgreSQL server has expired or is not yet valid; renew it, or correct the clock of this machine",
  ],
  [
    /ALTNAME|not ?valid ?for ?(any ?)?name/i,
    "the certificate of the PostgreSQL server is for another name; use that name as the host",
  ],
  [
    /certificate|UnknownIssuer/i,
    "the certificate of the PostgreSQL server is not trusted; name its authority with sslrootcert",
  ],
  [
    /not support SSL/,
    "PostgreSQL does not offer TLS; turn it on, or add sslmode=disable if nobody else can read the network",
  ],
];

const OURS = [StoreError, UsageError, BusyError] as const;

/** Returns an error unchanged if PostgreSQL did not cause it. The message does not repeat words of the server, which
 * may contain stored data. */
export function toPostgresError(error: unknown, location: string): unknown {
  if (!(error instanceof Error) || OURS.some((ours) => error instanceof ours)) return error;
  const say = (code: StoreErrorCode, words: string) =>
    new StoreError(`Cannot use database ${location}: ${words}`, code, { cause: error });
  if (error instanceof Damage) return say("corrupt", `the database is damaged (${error.what}); restore a backup`);
  if (isClosed(error)) return say("unavailable", "Vis has closed the connection");
  if (isLost(error)) return say("unavailable", "PostgreSQL does not answer; check whether it runs and can be reached");
  const code = sqlState(error);
  if (code === "") {
    const words = refusalWords(error);
    return words === undefined ? error : say("unavailable", words);
  }
  const rule = RULES.find(([pattern]) => pattern.test(code));
  return rule
    ? say(rule[1], rule[2])
    : say("unavailable", `PostgreSQL refused an operation (${code}); the log of the PostgreSQL server has the reason`);
}

export function sqlState(error: unknown): string {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code) ? code : "";
}

export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

/** If the server did not report the error, the connection counts as lost, except for faults that waiting does not
 * fix. */
export function lostOr(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConnectionLost || sqlState(error) !== "") return error;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return error;
  return isClosed(error) || refusalWords(error) !== undefined
    ? error
    : new ConnectionLost(`Cannot use PostgreSQL: the connection failed (${error.message})`, {
      cause: error,
    });
}

export function isLost(error: unknown): boolean {
  return error instanceof ConnectionLost || /^(08|57P0[1235]|25P0[34])/.test(sqlState(error));
}

export function mayReturn(error: unknown): boolean {
  return isLost(error) || sqlState(error).startsWith("53");
}

export function isReadOnly(error: unknown): boolean {
  return sqlState(error) === "25006";
}

export function wordsOf(error: unknown): string {
  const code = sqlState(error);
  if (code === "" || isLost(error)) return "PostgreSQL does not answer";
  return RULES.find(([pattern]) => pattern.test(code))?.[2] ?? `PostgreSQL refused an operation (${code})`;
}

/** After code 23505 (unique violation), a repeated transaction finds the row of the other transaction. */
export function isConflict(error: unknown): boolean {
  return isAborted(error) || isUnmarked(error) || sqlState(error) === "23505";
}

export function isUnmarked(error: unknown): boolean {
  const { table = "" }: { readonly table?: unknown } = Object(error);
  return sqlState(error) === "23502" && table === "last_write";
}

export function isAborted(error: unknown): boolean {
  return ["40001", "40P01", "55P03"].includes(sqlState(error));
}

function refusalWords(error: Error): string | undefined {
  return REFUSALS.find(([pattern]) => pattern.test(`${codeOf(error)} ${error.message}`))?.[1];
}

function isClosed(error: Error): boolean {
  // deno-lint-ignore vis/no-message-parsing -- the driver's error for an ended pool has no code
  return /pool after calling end|driver has already been destroyed/.test(error.message);
}

function codeOf(error: unknown): string {
  const { code = "" }: { readonly code?: unknown } = Object(error);
  return String(code);
}
