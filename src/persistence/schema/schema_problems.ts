import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { schemaDigest, schemaObjects } from "./schema_digest.ts";

/** Describes every table, index, view and trigger that differs from what the migrations create. Additional ones are
 * ignored. */
export function schemaProblems(db: DatabaseSync, version: number): readonly string[] {
  if (schemaDigest(db) === migrations[version - 1]?.schema) return [];
  using made = new DatabaseSync(":memory:");
  for (const { sql } of migrations.slice(0, version)) made.exec(sql);
  const found = schemaObjects(db);
  return [...schemaObjects(made)].flatMap(([name, sql]) => {
    if (!found.has(name)) return [`The ${name} is missing`];
    return found.get(name) === sql ? [] : [`The ${name} is not the one of this schema`];
  });
}
