import { DatabaseSync } from "node:sqlite";
import { FORMER_SCHEMAS } from "../sqlite/before_v1.ts";
import { migrations } from "../../../migrations/mod.ts";
import type { FoundSchema } from "../sqlite/migrate.ts";
import { schemaDigest, schemaObjects } from "./schema_digest.ts";

/** Describes every table, index, view and trigger that differs from what the migrations create. Additional ones are
 * ignored. */
export function schemaProblems(db: DatabaseSync, { version, former }: FoundSchema): readonly string[] {
  const expected = former ? FORMER_SCHEMAS.get(version) : migrations[version - 1]?.schema;
  if (schemaDigest(db) === expected) return [];
  if (former) return [`A table, index, view or trigger is not the one of schema V${version}`];
  using made = new DatabaseSync(":memory:");
  for (const { sql } of migrations.slice(0, version)) made.exec(sql);
  const found = schemaObjects(db);
  return [...schemaObjects(made)].flatMap(([name, sql]) => {
    if (!found.has(name)) return [`The ${name} is missing`];
    return found.get(name) === sql ? [] : [`The ${name} is not the one of this schema`];
  });
}
