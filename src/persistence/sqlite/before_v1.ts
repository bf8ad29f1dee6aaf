/** Databases from before V1. The first versions of Vis had migrations V1 to V12, which were folded into one V1. A database
 * of V10 to V12 is brought to V1 when it is opened: this is the one step for it, which nothing else needs. An older one
 * is refused. */

/** The checksum of the first of those migrations, which every such database has recorded. */
export const FORMER_FIRST = "8e8841d5fd0e39a8ec6fe4e629882c7dbbfff0bfdf59d0e8dd748241183cfa56";

/** What `schemaDigest` gives for a database of each version that is brought to V1. */
export const FORMER_SCHEMAS: ReadonlyMap<number, number> = new Map([
  [10, 1615230442],
  [11, -1669871739],
  [12, 330415391],
]);

const ERASURE = `
CREATE TABLE erasure (
  hash TEXT PRIMARY KEY NOT NULL
);
CREATE TABLE claim (
  put TEXT NOT NULL,
  reference TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (put, reference)
);
CREATE INDEX idx_claim_reference ON claim (reference);
`;

/** Rows had checksums and sums of the rows below them. */
const PLAIN_ROWS = `
DROP TRIGGER tally_conversation_insert;
DROP TRIGGER tally_conversation_update;
DROP TRIGGER tally_conversation_delete;
DROP TRIGGER tally_branch;
DROP TRIGGER tally_iteration;
DROP TRIGGER tally_expression_state;
DROP TRIGGER tally_child_branch;
DROP TRIGGER tally_sub_call;
DROP TRIGGER tally_dependency;
DROP TRIGGER tally_scope_change;
DROP TRIGGER tally_extension_state_insert;
DROP TRIGGER tally_extension_state_delete;
DROP TABLE tally;
DROP TABLE extension_tally;
ALTER TABLE conversation_soul DROP COLUMN checksum;
ALTER TABLE conversation_soul DROP COLUMN branches;
ALTER TABLE conversation_state DROP COLUMN checksum;
ALTER TABLE conversation_state DROP COLUMN variables;
ALTER TABLE conversation_state DROP COLUMN edges;
ALTER TABLE conversation_state DROP COLUMN scopes;
ALTER TABLE query_soul DROP COLUMN checksum;
ALTER TABLE query_soul DROP COLUMN variables;
ALTER TABLE query_state DROP COLUMN checksum;
ALTER TABLE query_state DROP COLUMN iterations;
ALTER TABLE iteration DROP COLUMN checksum;
ALTER TABLE iteration DROP COLUMN variables;
ALTER TABLE iteration DROP COLUMN states;
ALTER TABLE iteration DROP COLUMN children;
ALTER TABLE iteration DROP COLUMN calls;
ALTER TABLE expression_soul DROP COLUMN checksum;
ALTER TABLE expression_state DROP COLUMN checksum;
ALTER TABLE expression_state DROP COLUMN replaces;
ALTER TABLE expression_dependency DROP COLUMN checksum;
ALTER TABLE scope_change DROP COLUMN checksum;
ALTER TABLE extension_state DROP COLUMN checksum;
ALTER TABLE request_key DROP COLUMN checksum;
ALTER TABLE child_branch DROP COLUMN checksum;
ALTER TABLE sub_call DROP COLUMN checksum;
`;

/** Makes the schema of V1 in a database of such a version. */
export function upgradeToV1(from: number): string {
  return [...(from < 11 ? [ERASURE] : []), ...(from < 12 ? [PLAIN_ROWS] : []), "DELETE FROM schema_migration;"].join(
    "",
  );
}
