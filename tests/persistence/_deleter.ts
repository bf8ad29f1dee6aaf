/** Deletes a conversation: `deno run _deleter.ts DATABASE CONVERSATION N|FOLDER`. It is killed before its n-th step, or
 * copies the files of a killed process before each step into the folder. A step is a statement that begins or ends a
 * transaction, removes rows or files, or notes that. */
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import pg from "pg";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteConnection } from "../../src/persistence/sqlite/connection.ts";

const [path = "", conversationId = "", at = ""] = Deno.args;
const kill = Number(at);
const STEP = /^\s*(?:begin|commit|pragma wal_checkpoint)|delete from|insert into "?erasure/i;
let steps = 0, last = "";

function count(text: string): void {
  // Repeated statements count as one step.
  if (!STEP.test(text) || text === last) return;
  last = text;
  if (++steps === kill) Deno.kill(Deno.pid, "SIGKILL");
  if (Number.isNaN(kill)) leave();
}

/** Copies the files, which no other process has open. */
function leave(): void {
  for (const end of ["", "-wal"]) {
    if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, join(at, `${steps}.db${end}`));
  }
}

/** Counts the calls of a method by its first argument, or by the text of the object itself. */
function watch(
  type: { readonly prototype: object },
  name: string,
  textOf: (self: object, given: unknown) => unknown,
): void {
  const original = Reflect.get(type.prototype, name);
  Reflect.set(type.prototype, name, function (this: object, ...args: unknown[]): unknown {
    count(String(textOf(this, args[0])));
    return Reflect.apply(original, this, args);
  });
}

const store = await openStore({ path });
watch(SqliteConnection, "command", (_, name) => name);
watch(SqliteConnection, "query", (_, text) => text);
watch(DatabaseSync, "exec", (_, text) => text);
watch(pg.Client, "query", (_, query) => Object(query).text ?? query);
await store.deleteConversation(conversationId);
watch(StatementSync, "run", (statement) => Reflect.get(statement, "sourceSQL"));
await store.close();
