import assert from "node:assert/strict";
import { migrations } from "../../../migrations/postgres/mod.ts";

/** These changes would break a node that knows only the schema before. */
const TAKES_AWAY = [
  /\bDROP\s+(TABLE|COLUMN|FUNCTION|SEQUENCE|VIEW)\b/i,
  /\bRENAME\b/i,
  /\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b/i,
  /\bALTER\s+COLUMN\s+\w+\s+SET\s+NOT\s+NULL\b/i,
  /\bADD\s+COLUMN\s+(?:(?!DEFAULT)[^,;])*\bNOT\s+NULL\b(?:(?!DEFAULT)[^,;])*[,;]/i,
];

Deno.test("a migration of PostgreSQL keeps everything that nodes of the version before use", () => {
  const [, ...later] = migrations;
  for (const { name, sql } of later) {
    const text = sql.replace(/--.*$/gm, "");
    assert.deepEqual(TAKES_AWAY.filter((what) => what.test(text)).map(String), [], name);
  }
  for (const bad of ["DROP TABLE log;", "ALTER TABLE log ADD COLUMN x text NOT NULL;"]) {
    assert.ok(TAKES_AWAY.some((what) => what.test(bad)), bad);
  }
  const good = "ALTER TABLE log ADD COLUMN x text NOT NULL DEFAULT '', ADD COLUMN y text;";
  assert.ok(!TAKES_AWAY.some((what) => what.test(good)));
});
