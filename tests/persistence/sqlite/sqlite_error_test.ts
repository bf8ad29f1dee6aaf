import assert from "node:assert/strict";
import { StoreError } from "../../../src/domain/errors.ts";
import { toStoreError } from "../../../src/persistence/sqlite/sqlite_error.ts";

const CASES: readonly (readonly [string, string, string])[] = [
  ["ERR_SQLITE_ERROR", "database or disk is full", "full"],
  ["ENOSPC", "ENOSPC: no space left on device, write", "full"],
  ["ERR_SQLITE_ERROR", "attempt to write a readonly database", "readonly"],
  ["EROFS", "EROFS: read-only file system, mkdir '/x'", "readonly"],
  ["ERR_SQLITE_ERROR", "database disk image is malformed", "corrupt"],
  ["ERR_SQLITE_ERROR", "file is not a database", "corrupt"],
  ["ERR_SQLITE_ERROR", "database is locked", "busy"],
  ["ERR_SQLITE_ERROR", "disk I/O error", "unavailable"],
  ["ERR_SQLITE_ERROR", "unable to open database file: /x", "unavailable"],
  ["ERR_SQLITE_ERROR", 'near "select": syntax error in select * from secrets', "unavailable"],
  ["EACCES", "EACCES: permission denied, open '/x'", "unavailable"],
  ["EMFILE", "EMFILE: too many open files", "unavailable"],
  ["ERR_INVALID_STATE", "database is not open", "unavailable"],
];

for (const [code, message, kind] of CASES) {
  Deno.test(`toStoreError() takes "${message}" for ${kind}, with path and fix and without the original text`, () => {
    const cause = Object.assign(new Error(message), { code });
    const error = toStoreError(cause, "/home/u/vis.db");
    assert.ok(error instanceof StoreError);
    assert.equal(error.code, kind);
    assert.match(error.message, /^Cannot use database \/home\/u\/vis\.db: [a-z]/);
    assert.doesNotMatch(error.message, /select|ERR_|E[A-Z]{4,}|\.$/);
    assert.equal(error.cause, cause);
  });
}

Deno.test("toStoreError() a broken rule may be damage, and the error names the check", () => {
  const cause = Object.assign(new Error("UNIQUE constraint failed: query.id"), { code: "ERR_SQLITE_ERROR" });
  const error = toStoreError(cause, "/x");
  assert.ok(error instanceof StoreError);
  assert.match(
    error.message,
    /: a row would break a rule of the schema; vis db check shows whether the file is damaged$/,
  );
});

Deno.test("toStoreError() does not change errors that the database did not cause", () => {
  for (const error of [new TypeError("x is not a function"), new StoreError("Cannot", "full"), "text", undefined]) {
    assert.equal(toStoreError(error, "/x"), error);
  }
});
