/** PostgreSQL databases from before V1. The first versions of Vis had migrations V1 to V8, which were folded into one V1. A
 * database of V8 is brought to V1 when it is opened: this is the one step for it, which nothing else needs. An older one
 * is refused. */

/** The checksum of the first of those migrations, which every such database has recorded. */
export const FORMER_POSTGRES_FIRST = "e741d4279af442680e07ccc112533022f9574f9b2b293fc42b77936600ef84a7";

/** The version that is brought to V1. */
export const FORMER_POSTGRES_NEWEST = 8;

/** Rows had checksums and sums of the rows below them, which V8 no longer uses. */
export const UPGRADE_TO_V1 = `
ALTER TABLE conversation_soul DROP checksum, DROP branches;
ALTER TABLE conversation_state DROP checksum, DROP variables, DROP edges, DROP scopes;
ALTER TABLE query_soul DROP checksum, DROP variables;
ALTER TABLE query_state DROP checksum, DROP iterations;
ALTER TABLE iteration DROP checksum, DROP variables, DROP states, DROP children, DROP calls;
ALTER TABLE expression_soul DROP checksum;
ALTER TABLE expression_dependency DROP checksum;
ALTER TABLE expression_state DROP checksum, DROP replaces;
ALTER TABLE child_branch DROP checksum;
ALTER TABLE sub_call DROP checksum;
ALTER TABLE scope_change DROP checksum;
ALTER TABLE extension_state DROP checksum;
ALTER TABLE request_key DROP checksum;
DELETE FROM schema_migration;
`;
