import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun, newQuery, queryEnd } from "../../conformance/store/fixtures.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";
import { noise } from "../_filled.ts";
import { givenAgain, MARK, marked } from "../_marked.ts";

const DELETER = fileURLToPath(new URL("../_deleter.ts", import.meta.url));
const test = await postgresTests();

async function marksOn(postgres: Postgres, path: string): Promise<readonly string[]> {
  const has = [MARK, Buffer.from(MARK).toString("hex")].map((mark) => `t::text LIKE ''%%${mark}%%''`).join(" OR ");
  const names = await postgres.sql(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
     AND query_to_xml(format('SELECT 1 FROM %I t WHERE ${has}', table_name), true, false, '')::text LIKE '%<row%'`,
    path,
  );
  return names === "" ? [] : names.split("\n");
}

test(
  "no table has anything of a conversation that was deleted, and a shared image stays",
  async (postgres) => {
    const path = await postgres.createDatabase();
    const store = await openStore({ path });
    const kept = await begun(store);
    await store.endQuery(kept.queryId, queryEnd());
    const images = [{ kind: "bytes", mediaType: "image/png", bytes: noise("shared", 9000) } as const];
    const shown = await store.beginQuery(newQuery(kept.branchId, "an image", { images }));
    await store.endQuery(shown, queryEnd());
    const { branchId, conversationId } = await marked(store);
    await store.endQuery(await store.beginQuery(newQuery(branchId, "the same", { images })), queryEnd());
    await begun(store, { text: "runs" });
    await store.deleteConversation(conversationId);
    await givenAgain(store);
    await store.close();
    assert.deepEqual(await marksOn(postgres, path), []);
    assert.equal(await postgres.sql("SELECT count(*) FROM content", path), "1");
    const again = await openStore({ path });
    assert.deepEqual((await again.queryExtras(shown)).images, images);
    await again.close();
  },
);

test(
  "conversations with content in common leave nothing, whichever are deleted at the same time",
  async (postgres) => {
    const path = await postgres.createDatabase();
    const group = fc.array(fc.subarray([0, 1, 2], { minLength: 1 }), { minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.array(group, { minLength: 1, maxLength: 3 }), async (groups) => {
        const stores = [await openStore({ path }), await openStore({ path })] as const;
        const add = async (shown: readonly number[]): Promise<string> => {
          const images = shown.map((n) =>
            ({ kind: "bytes", mediaType: "image/png", bytes: noise(`i${n}`, 9000) }) as const
          );
          const { branchId, conversationId, queryId } = await begun(stores[0]);
          await stores[0].endQuery(queryId, queryEnd());
          await stores[0].endQuery(await stores[0].beginQuery(newQuery(branchId, "images", { images })), queryEnd());
          return conversationId;
        };
        for (const shown of groups) {
          const ids: string[] = [];
          for (const one of shown) ids.push(await add(one));
          await Promise.all(ids.map((id, at) => stores[at % 2 === 0 ? 0 : 1].deleteConversation(id)));
        }
        for (const store of stores) await store.close();
        assert.equal(await postgres.sql("SELECT count(*) FROM content", path), "0");
        assert.equal(await postgres.sql("SELECT count(*) FROM erasure", path), "0");
      }),
      { numRuns: 6 },
    );
  },
);

test("whenever a process that deletes is killed, the next one erases the rest", async (postgres) => {
  const path = await postgres.createDatabase();
  const found = { kept: 0, erased: 0 };
  for (let step = 1, killed = true; killed; step++) {
    const store = await openStore({ path });
    const { conversationId } = await marked(store);
    await store.close();
    const args = ["run", "--allow-all", "--quiet", DELETER, path, conversationId, String(step)];
    const { signal } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" }).output();
    killed = signal !== null;
    const after = await openStore({ path });
    if (await after.findConversation(conversationId) === null) found.erased++;
    else {
      found.kept++;
      await after.deleteConversation(conversationId);
    }
    await after.close();
    assert.deepEqual(await marksOn(postgres, path), [], `step ${step}`);
  }
  assert.ok(found.kept >= 2 && found.erased >= 3, `${found.kept} kept, ${found.erased} erased`);
  const rows = "SELECT count(*) FROM (SELECT hash FROM content UNION ALL SELECT hash FROM long_value) t";
  assert.equal(await postgres.sql(rows, path), "0");
});
