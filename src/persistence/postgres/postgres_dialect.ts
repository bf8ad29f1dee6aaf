import { sql } from "kysely";
import { type DatabaseDialect, isSeen } from "../database.ts";
import { dropLargeRows, eraseOnServer } from "../erasure.ts";
import { WORDS } from "../search_words.ts";
import { isOfConversation, orderOf, snakeCase, STAYING_TABLES, USER_TABLES } from "../tables.ts";
import { isUnmarked, sqlState } from "./postgres_error.ts";

/** What is different in statements for PostgreSQL. */
export const POSTGRES: DatabaseDialect = {
  textBytes: Infinity,
  valueBytes: 1 << 20,
  contentBytes: 1 << 20,
  hasDifferences: false,
  locksByChange: true,
  search: {
    // Words are found without their accents.
    isExact: false,
    isShared: false,
    termReader: (db) =>
      Promise.resolve(async (token) => {
        const { rows } = await sql<{ readonly term: string }>`
          SELECT DISTINCT term FROM search s, unnest(tsvector_to_array(s.words)) term
          WHERE has_unspaced(s.words) AND ${isSeen(db, "s.tenant")} AND strpos(term, ${token}) > 0`.execute(db);
        return rows.map(({ term }) => term);
      }),
    match: (db, { words, joined }) => {
      const wanted = sql`CAST(${WORDS.query([...words], joined)} AS tsquery)`;
      // A text that is long for its matches is worth less.
      return {
        where: sql`s.words @@ ${wanted} AND ${isSeen(db, "s.tenant")}`,
        order: sql`ts_rank(s.words, ${wanted}, 1) DESC, s.rowid DESC`,
        isRanked: true,
      };
    },
    inside: (_db, word) =>
      WORDS.of(word).map((part) =>
        sql`EXISTS (SELECT 1 FROM unnest(tsvector_to_array(s.words)) one WHERE strpos(one, ${part}) > 0)`
      ),
    all: (db) => [isSeen(db, "s.tenant")],
  },
  erasure: {
    referencesOf: () => Promise.resolve([]),
    orphansOf: () => Promise.resolve([]),
    erase: eraseOnServer,
    removing: async (tx, conversationId, remove) => {
      // No foreign key removes these.
      for (const table of STAYING_TABLES) {
        const rows = sql`${sql.raw(snakeCase(table))} t WHERE ${isOfConversation(table, conversationId)}`;
        await sql`DELETE FROM ${rows}`.execute(tx);
      }
      return await remove();
    },
    dropLarge: (db, { hash }) => dropLargeRows(db, hash),
  },

  isTenant: (expression, tenant) => sql<boolean>`${sql.raw(expression)} = ${tenant}`,
  wholeText: (cell) => sql.raw(cell),
  jsonText: (cell, key) => sql<string | null>`(json_of(${sql.raw(cell)}) ->> ${sql.lit(key)})`,
  hasJson: (column, path, value) => {
    const found = sql`CAST(json_of(${sql.raw(column)}) #> CAST(${path} AS text[]) AS text)`;
    return sql<boolean>`${found} = CAST(json_of(${JSON.stringify(value)}) AS text)`;
  },
  isListed: (column, json) =>
    sql`${sql.ref(column)} = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(${json} AS jsonb))))`,
  byteLength: (column) => `octet_length(${column})`,
  // An index has the same words.
  mentionsContent: (column) => `strpos(${column}, 'sha256:') > 0`,
  externalId: (conversation) => sql.raw(`${conversation}.external_id`),
  // A column of bytes has no text in it, and the metadata of the variable names it.
  largeCell: () => null,
  newestVersions: ({ by, columns, from }) =>
    sql`SELECT DISTINCT ON (${sql.raw(by)}) ${sql.raw(columns)}, e.version FROM ${from}
      ORDER BY ${sql.raw(by)}, e.version DESC`,

  holderOf: (id, isLocked = true) => {
    const lock = sql.raw(isLocked ? "FOR SHARE" : "");
    return sql<string | null>`(SELECT node_id || ' ' || epoch FROM job WHERE query_id = ${sql.raw(id)} ${lock})`;
  },
  versionOf: (run) => sql<string | null>`CAST(${sql.raw(run)}.xmin AS text)`,
  hasNoJob: (run) => sql<boolean>`NOT EXISTS (SELECT FROM job WHERE query_id = ${sql.raw(run)})`,
  hasRunningJob: async (tx, branchId) => {
    const { rows } = await sql`
      SELECT FROM job j JOIN query_state s ON s.id = j.query_id
      WHERE j.conversation_state_id = ${branchId} AND s.status = 'running'`.execute(tx);
    return rows.length > 0;
  },
  keyedJobs: async (db, key) => {
    const { rows } = await sql<Awaited<ReturnType<DatabaseDialect["keyedJobs"]>>[number]>`
      SELECT conversation_state_id, query_id AS query_state_id, fingerprint FROM job WHERE request_key = ${key}`
      .execute(db);
    return rows;
  },

  nextActivity: async (tx) => {
    const { rows: [sequence] } = await sql<{ next: number }>`SELECT nextval('activity') AS next`.execute(tx);
    return sequence?.next ?? 1;
  },
  // The sequence knows the number of the conversation at the front.
  moveToFront: async (tx, { id }) => {
    await tx.store(
      `UPDATE conversation_soul SET activity = nextval('activity')
       WHERE id = $1 AND activity <> (SELECT last_value FROM activity)`,
      [id],
    );
  },
  // One statement, so that other writes need not wait for it.
  storeBoth: async (db, first, second) => {
    await first(db.with("also", (also) => second(also) as never)).execute();
  },
  deferReferences: async (tx) => {
    await sql`SET CONSTRAINTS ALL DEFERRED`.execute(tx);
  },
  // The next rows come after the copied ones.
  afterCopy: async (tx) => {
    for (const table of USER_TABLES) {
      const [first] = orderOf(table);
      if (first !== "rowid" && first !== "id") continue;
      const name = snakeCase(table);
      await sql`SELECT setval(pg_get_serial_sequence(${name}, ${first}), max(${sql.raw(first)})) FROM ${sql.raw(name)}`
        .execute(tx);
    }
    await sql`SELECT setval('activity', max(activity)) FROM conversation_soul WHERE activity > 0`.execute(tx);
  },
  // A row that belongs to none breaks a policy before it breaks a constraint.
  breaksRule: (error): error is Error =>
    error instanceof Error && /^(?:23|42501$)/.test(sqlState(error)) && !isUnmarked(error),
};
