import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { columnsOf, snakeCase, type TableColumn, TABLES } from "../../src/persistence/tables.ts";

type TableName = keyof typeof TABLES;

interface Found {
  readonly type: string;
  readonly nullable: boolean;
  readonly filled: boolean;
}

interface FoundTable {
  readonly columns: ReadonlyMap<string, Found>;
  readonly checks: string;
}

export type Schema = ReadonlyMap<string, FoundTable>;
export const NAMES = Object.keys(TABLES) as TableName[];
const RULE = /CHECK \((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)/g;

export function inSqlite(): Schema {
  using db = new DatabaseSync(":memory:");
  for (const { sql } of migrations) db.exec(sql);
  const tables = db.prepare(
    `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
     AND (name NOT LIKE 'search\\_%' ESCAPE '\\' OR name = 'search_entry')`,
  ).all();
  return new Map(tables.map(({ name, sql }) => {
    const rows = db.prepare("SELECT * FROM pragma_table_info(?)").all(String(name));
    const columns = rows.map(({ name, type, notnull, dflt_value: given, pk }) => {
      const nullable = notnull === 0 && pk === 0;
      return [String(name), {
        type: String(type),
        nullable,
        filled: nullable || given !== null || type === "INTEGER" && pk === 1,
      }] as const;
    });
    return [String(name), { columns: new Map(columns), checks: [...String(sql).matchAll(RULE)].join("\n") }];
  }));
}

function ruleOf(checks: string, column: string): Pick<TableColumn, "oneOf" | "atLeast"> {
  const [, list] = new RegExp(`\\b${column}"? (?:IN \\(|= ANY \\(ARRAY\\[)([^\\])]*'[^\\])]*)[\\])]`).exec(checks) ??
    [];
  const [, least] = new RegExp(`\\b${column}"? >= \\(?'?(-?\\d+)`).exec(checks) ?? [];
  return {
    ...(list === undefined ? {} : { oneOf: [...list.matchAll(/'([^']*)'/g)].map(([, value = ""]) => value) }),
    ...(least === undefined ? {} : { atLeast: Number(least) }),
  };
}

export function compare(schema: Schema, types: Readonly<Record<string, string>>): void {
  for (const table of NAMES) {
    const found = schema.get(snakeCase(table));
    assert.ok(found, table);
    for (const [name, { kind, nullable = false, filled = false, oneOf, atLeast }] of Object.entries(columnsOf(table))) {
      const column = snakeCase(name);
      const what = `${table}.${name}`;
      const has = found.columns.get(column);
      assert.equal(has?.type.replace("smallint", "bigint"), types[kind] ?? types["text"], what);
      // PostgreSQL has the tenant in each row.
      if (name !== "tenant") assert.equal(has?.nullable, nullable, what);
      if (filled) assert.ok(has?.filled, `${what} is filled`);
      const rule = { ...(oneOf ? { oneOf } : {}), ...(atLeast === undefined ? {} : { atLeast }) };
      assert.deepEqual(ruleOf(found.checks, column), rule, what);
    }
  }
}
