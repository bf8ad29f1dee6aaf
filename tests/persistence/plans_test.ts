/** The cost of a turn must not grow with the conversation, so none of its statements reads a whole table. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../migrations/mod.ts";
import { sqliteStore } from "../../src/persistence/open_store.ts";
import { migrate } from "../../src/persistence/sqlite/migrate.ts";
import type { Store } from "../../src/persistence/store.ts";
import { block, image, iterate, newIteration, newQuery, queryEnd } from "../conformance/store/fixtures.ts";

async function plansOf(work: (store: Store) => Promise<void>): Promise<ReadonlyMap<string, readonly string[]>> {
  const db = new DatabaseSync(":memory:");
  await migrate(db, migrations, { path: ":memory:", now: () => 1 });
  const texts = new Set<string>();
  const prepare = db.prepare.bind(db);
  Object.assign(db, {
    prepare: (sql: string) => {
      texts.add(sql);
      return prepare(sql);
    },
  });
  const store = sqliteStore(db, { location: ":memory:", now: () => 5, busyMs: 50, isAlive: () => null });
  await work(store);
  const plans = new Map(
    [...texts].filter((sql) => /^\s*(select|insert|update|delete|with)/i.test(sql)).map((sql) => {
      const rows = prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return [sql, rows.map(({ detail }) => String(detail))] as const;
    }),
  );
  await store.close();
  return plans;
}

async function turn(store: Store): Promise<void> {
  const { branchId } = await store.createConversation({ title: "T", channel: "cli", workspace: "/w" });
  for (let at = 0; at < 2; at++) {
    const queryId = await store.beginQuery(newQuery(branchId, `request ${at}`));
    await store.previousTurn(branchId, queryId);
    const text = "x".repeat(3000);
    const saved = [image("a", { bytes: new TextEncoder().encode(text + at) }), image("b", { requires: ["a"] })];
    const blocks = [block(`const a = ${at}`, { reads: ["b"], saved, result: { stdout: text } })];
    const system = [{ name: "$reasoning", text }];
    const scopes = { forgotten: ["a"], live: ["b"] };
    await iterate(store, { queryId, position: 0, blocks, system, scopes, given: [image("context")] });
    await store.failIteration(newIteration(queryId, 1), {
      error: "no reply",
      system: [],
      totals: { iterations: 2, usage: queryEnd().usage, costUsd: 0 },
      metadata: {},
    });
    await store.setScope(branchId, { names: ["b"], scope: "forgotten" });
    await store.endQuery(queryId, queryEnd());
  }
}

/** Returns the plans that read a whole table. Three scans are allowed: `json_each` over a list of the caller, the
 * pieces of one text, and a materialized result of the statement's own searches. */
function scans(plans: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...plans].flatMap(([sql, plan]) => {
    const made = new Set(plan.flatMap((line) => line.match(/^MATERIALIZE (\w+)$/)?.[1] ?? []));
    const scanned = plan.filter((line) =>
      /^SCAN (?!json_each |\(subquery)/.test(line) && !made.has(line.slice("SCAN ".length))
    );
    return scanned.map((line) => `${line}: ${sql.slice(0, 200)}`);
  });
}

Deno.test("no statement of a turn reads a whole table", async () => {
  const plans = await plansOf(turn);
  assert.ok(plans.size > 25, `${plans.size} statements`);
  assert.deepEqual(scans(plans), []);
});

Deno.test("opening a branch reads only its own rows, and a list of conversations only the listed ones", async () => {
  const plans = await plansOf(async (store) => {
    await turn(store);
    const { branchId = "" } = await store.latestConversation("/w") ?? {};
    await store.variables(branchId);
    await store.liveImages(branchId);
    await store.variableVersions(branchId, "a", { newest: 1 });
    await store.queries(branchId);
    await store.turns(branchId);
  });
  // The pieces of a long text in `content` are read.
  const read = scans(plans).map((line) => line.replace(/:[^]*/, "")).filter((line) => !line.includes("VIRTUAL TABLE"));
  assert.deepEqual(read, [
    "SCAN c USING INDEX idx_conv_soul_activity", // latestConversation() reads from the end until it finds one.
  ]);
});

Deno.test("a list of conversations looks at one query of each branch", async () => {
  const plans = await plansOf(async (store) => {
    await turn(store);
    assert.equal((await store.listConversations({ limit: 1 }))[0]?.queries, 2);
  });
  const listing = [...plans].filter(([sql]) => /"q"\."number" = b\.queries/.test(sql) && !sql.includes("lease"));
  assert.equal(listing.length, 1);
  const reads = listing.flatMap(([, plan]) => plan).filter((line) =>
    /^(SEARCH|SCAN) ([nq]) .*(query_soul|rowid)/.test(line)
  );
  assert.deepEqual(
    new Set(reads),
    new Set([
      "SEARCH q USING INDEX uq_query_soul_number (conversation_state_id=? AND number=?) LEFT-JOIN",
    ]),
  );
});

Deno.test("no statement binds its limit: SQLite would compile it again for each run", async () => {
  const plans = await plansOf(async (store) => {
    await turn(store);
    await store.states.query("x.notes", { prefix: "note/", limit: 10 });
    await store.states.query("x.notes", { conversationId: null, limit: 10 });
    await store.listConversations({ limit: 2 });
    await store.search("request", { limit: 5 });
  });
  const limits = [...plans.keys()].flatMap((sql) => sql.match(/limit \S+/gi) ?? []);
  assert.ok(["2", "5", "10"].every((limit) => limits.some((text) => text.endsWith(` ${limit}`))), limits.join());
  assert.deepEqual(limits.filter((limit) => limit.includes("?")), []);
});
