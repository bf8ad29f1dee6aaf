import assert from "node:assert/strict";
import { storeStep } from "../../../bench/support/store_step.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun } from "../../conformance/store/fixtures.ts";
import { postgresTests } from "../../helpers/postgres.ts";

const VARIABLES = 300, MORE = 10;

// Plans change only when the test changes them.
const test = await postgresTests({ settings: ["autovacuum = off"] });

test("an iteration reads the variables that it names, not all of its conversation", async (postgres) => {
  const url = await postgres.createDatabase();
  const first = await openStore({ path: url });
  const { queryId } = await begun(first);
  for (let position = 1; position <= VARIABLES; position++) await storeStep(first, queryId, position);
  await first.close();
  await postgres.sql("ANALYZE", url);

  const rowsRead = async () =>
    Number(
      await postgres.sql(
        `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
        WHERE relname IN ('expression_soul', 'expression_state')`,
        url,
      ),
    );
  const before = await rowsRead();
  const again = await openStore({ path: url });
  for (let more = 1; more <= MORE; more++) await storeStep(again, queryId, VARIABLES + more);
  await again.close(); // A session reports its reads to the server when it ends.
  const each = (await rowsRead() - before) / MORE;
  assert.ok(each > 0, "the server counts nothing");
  assert.ok(each < 50, `an iteration reads ${each} rows of expressions`);
});
