import assert from "node:assert/strict";
import { columnsOf, snakeCase } from "../../src/persistence/tables.ts";
import { compare, inSqlite, NAMES } from "./_tables.ts";

const SQLITE_TYPES: Readonly<Record<string, string>> = {
  ...{ time: "INTEGER", place: "INTEGER", integer: "INTEGER", real: "REAL", bytes: "BLOB", jsonBytes: "BLOB" },
};
Deno.test("SQLite has the tables as they are described, and no other column", () => {
  const schema = inSqlite();
  compare(schema, { ...SQLITE_TYPES, text: "TEXT" });
  for (const table of NAMES) {
    const described = Object.keys(columnsOf(table)).map(snakeCase);
    assert.deepEqual([...schema.get(snakeCase(table))?.columns.keys() ?? []].toSorted(), described.toSorted(), table);
  }
});
