import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { noise } from "../_filled.ts";
import { withDatabasePath } from "../_temp_database.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../../src/persistence/sqlite_maintenance.ts";
import type { Store } from "../../../src/persistence/store.ts";
import {
  begun,
  block,
  image,
  iterate,
  iterationEnd,
  newIteration,
  newQuery,
  queryEnd,
  USAGE,
  utf8,
} from "../../conformance/store/fixtures.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";

const DELETER = fileURLToPath(new URL("_deleter.ts", import.meta.url));
const MARK = "zqxjkvw";
const long = (name: string): string => `${name} ${MARK} `.repeat(300);
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, ...utf8(long("image"))]);

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < 3; at++) yield utf8(`${at} ${long("large")}`);
}

async function* own(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([...crypto.getRandomValues(new Uint8Array(16)), ...utf8(long("bytes"))]);
}

async function textOf(store: Store, large: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(store.largePieces(large))).toString();
}

/** A conversation with the mark in everything that it stores, short and long. `large`: in its large text too. */
async function marked(store: Store, { large = true } = {}): Promise<Awaited<ReturnType<typeof begun>>> {
  const ids = await begun(store, { text: `${MARK} ${long("request")}` });
  const { branchId, conversationId, queryId } = ids;
  const given = large ? [image("context", { bytes: new Uint8Array(), large: await store.putLarge(pieces()) })] : [];
  const marks = newIteration(queryId, 0, {
    systemPrompt: long("system"),
    userPrompt: JSON.stringify([{ role: "user", content: long("prompt") }]),
    response: long("response"),
    thinking: long("thinking"),
    metadata: { note: long("note") },
    blocks: ["1"],
    given,
  });
  const iterationId = await store.beginIteration(marks);
  const big = Buffer.concat([noise("big", 200_000), utf8(long("value"))]);
  const inPieces = Buffer.concat([noise("pieces", 1 << 20), utf8(MARK)]);
  const saved = [image("big", { bytes: new Uint8Array(big) }), image("list", { bytes: utf8(long("list").repeat(9)) })]
    .concat(image("inPieces", { bytes: new Uint8Array(inPieces) }));
  const made = block(`const note = "${MARK}"`, { saved, value: utf8(long("result")), result: { stdout: long("out") } });
  await store.endIteration(iterationId, {
    status: "done",
    blocks: [made],
    system: [{ name: "$query", text: long("system variable") }],
    forgotten: [],
    restored: [],
    error: null,
    metadata: {},
    returnedEmpty: false,
    query: { usage: USAGE, byModel: {}, costUsd: 0, iterations: 1, ms: 1 },
  } as never);
  await iterate(store, {
    queryId,
    position: 1,
    blocks: [block("2", { saved: [image("list", { bytes: utf8(`${long("list").repeat(9)}${MARK} more`) })] })],
  });
  await store.recordSubCall({
    ...{ iterationId, provider: "p", model: "m", usage: USAGE, costUsd: 0, ms: 1, error: null },
    prompt: long("call"),
    reply: long("reply"),
  });
  const place = { namespace: "test.a", branchId, queryId };
  for (const value of [MARK, long("state")]) await store.states.put(place, { key: "k", value });
  await store.states.put(place, { key: "bytes", value: large ? await store.putLarge(own(), { isOwn: true }) : "" });
  await store.endQuery(queryId, queryEnd({ answer: long("answer"), notes: [MARK] }));
  const second = await store.beginQuery(
    newQuery(branchId, MARK, { images: [{ kind: "bytes", mediaType: "image/png", bytes: PNG }] }),
  );
  await store.endQuery(second, queryEnd({ answer: MARK }));
  await store.setTitle(branchId, `about ${MARK}`);
  await store.log({ level: "info", event: "e", data: { text: long("log") }, conversationId, queryId } as never);
  return ids;
}

/** The tables, those of the search index included, that have the mark. */
function marks(path: string): readonly string[] {
  using db = new DatabaseSync(path);
  const tables = db.prepare(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT LIKE 'sqlite%'",
  ).all();
  return tables.flatMap(({ name }) => {
    const rows = db.prepare(`SELECT * FROM "${String(name)}"`).all();
    const has = (cell: unknown): boolean =>
      Buffer.from(cell instanceof Uint8Array ? cell : utf8(String(cell))).includes(MARK);
    return rows.some((row) => Object.values(row).some(has)) ? [String(name)] : [];
  });
}

/** The files of a database that have the mark. */
async function markedFiles(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path));
  const found = await Promise.all(
    names.map(async (name) => (await readFile(join(dirname(path), name))).includes(MARK)),
  );
  return names.filter((_, at) => found[at]);
}

Deno.test("no table has anything of a conversation that was deleted, and after vacuum no file", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const kept = await begun(store, { text: "another one" });
    await iterate(store, { queryId: kept.queryId, position: 0, blocks: [block("1")] });
    await store.endQuery(kept.queryId, queryEnd({ answer: "kept" }));
    const { conversationId } = await marked(store, { large: false });
    assert.ok(marks(path).length > 7, String(marks(path)));
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), []);
    const care = new SqliteMaintenance({ path });
    const { problems, unused } = await care.check();
    assert.deepEqual([problems, unused], [[], 0]);
    await care.vacuum();
    assert.deepEqual(await markedFiles(path), []);
    const again = await openStore({ path });
    assert.equal((await again.search("another", { limit: 5 })).length, 1);
    await again.close();
  });
});

Deno.test("large texts and bytes of extensions go with the conversation, also while a query runs", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    const { conversationId } = await marked(store);
    await begun(store, { text: "runs" });
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), []);
    await new SqliteMaintenance({ path }).vacuum();
    assert.deepEqual(await markedFiles(path), []);
  });
});

/** A text that a new request gives stays while the only conversation that had it is deleted, and goes with its own. */
async function givenAgain(store: Store): Promise<void> {
  const { conversationId } = await marked(store);
  const large = await store.putLarge(pieces());
  await store.deleteConversation(conversationId);
  const next = await begun(store, { text: "the same" });
  const given = [image("context", { bytes: new Uint8Array(), large })];
  await store.endIteration(
    await store.beginIteration(newIteration(next.queryId, 0, { given })),
    iterationEnd([]),
  );
  await store.endQuery(next.queryId, queryEnd());
  assert.match(await textOf(store, large), new RegExp(`^0 large ${MARK}`));
  await store.deleteConversation(next.conversationId);
}

Deno.test("a text that is given again is not erased with another conversation, but with its own", async () => {
  await withDatabasePath(async (path) => {
    const store = await openStore({ path });
    await givenAgain(store);
    await store.close();
    assert.deepEqual(marks(path), []);
  });
});

Deno.test("a text that was given and never used goes a day later, when the database is opened", async () => {
  await withDatabasePath(async (path) => {
    let time = 1_800_000_000_000;
    const store = await openStore({ path, now: () => time });
    const { conversationId } = await marked(store);
    await store.putLarge(pieces());
    await store.deleteConversation(conversationId);
    await store.close();
    assert.deepEqual(marks(path), ["content"]);
    time += 25 * 3_600_000;
    await (await openStore({ path, now: () => time })).close();
    assert.deepEqual(marks(path), []);
  });
});

/** Deletes a conversation in a process that is killed before its n-th step, for each n. */
async function killedAtEach(
  path: string,
  { open, marks }: { readonly open: () => Promise<Store>; readonly marks: () => Promise<readonly string[]> },
): Promise<{ readonly kept: number; readonly erased: number }> {
  const found = { kept: 0, erased: 0 };
  for (let step = 1;; step++) {
    const store = await open();
    const { conversationId } = await marked(store);
    await store.close();
    const args = ["run", "--allow-all", "--quiet", DELETER, path, conversationId, String(step)];
    const { signal, code } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" })
      .output();
    const after = await open();
    if (await after.findConversation(conversationId) === null) found.erased++;
    else {
      found.kept++;
      await after.deleteConversation(conversationId);
    }
    await after.close();
    assert.deepEqual(await marks(), [], `step ${step}`);
    if (signal === null) {
      assert.equal(code, 0);
      return found;
    }
  }
}

Deno.test("whenever a process that deletes is killed, the next one erases the rest", async () => {
  await withDatabasePath(async (path) => {
    const { kept, erased } = await killedAtEach(path, {
      open: () => openStore({ path }),
      marks: () => Promise.resolve(marks(path)),
    });
    assert.ok(kept >= 2 && erased >= 3, `${kept} kept, ${erased} erased`);
    const { problems, unused } = await new SqliteMaintenance({ path }).check();
    assert.deepEqual([problems, unused], [[], 0]);
  });
});

Deno.test("what other conversations have in common with one that was deleted stays, whenever they stored it", async () => {
  const conversation = fc.record({
    text: fc.constantFrom("a", "b", "c"),
    seed: fc.constantFrom("x", "y"),
    tail: fc.constantFrom("", "1", "2"),
  });
  const steps = fc.array(fc.record({ add: conversation, removes: fc.boolean() }), { minLength: 3, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      await withDatabasePath(async (path) => {
        const store = await openStore({ path });
        const all: { readonly id: string; readonly branchId: string; readonly bytes: Uint8Array }[] = [];
        for (const { add: { seed, tail, ...add }, removes } of plan) {
          const [text, value] = [`${add.text} text `.repeat(400), noise(seed, 150_000)];
          const deleting = removes ? all.shift() : undefined;
          const removed = deleting && store.deleteConversation(deleting.id);
          const { branchId, conversationId, queryId } = await begun(store, { text });
          const bytes = new Uint8Array([...value, ...utf8(tail)]);
          for (const [position, saved] of [value, bytes].entries()) {
            const made = block("v", { saved: [image("v", { bytes: saved })], result: { stdout: text } });
            await iterate(store, { queryId, position, blocks: [made] });
          }
          await store.endQuery(queryId, queryEnd({ answer: text }));
          await removed;
          all.push({ id: conversationId, branchId, bytes });
        }
        for (const { branchId, bytes } of all) {
          assert.deepEqual((await store.liveImages(branchId))[0]?.bytes, bytes);
        }
        await store.close();
        const { problems, unused } = await new SqliteMaintenance({ path }).check();
        assert.deepEqual([problems, unused], [[], 0]);
      });
    }),
    { numRuns: 8 },
  );
});

const postgresTest = await postgresTests();

/** The tables of a PostgreSQL database that have the mark. */
async function marksOn(postgres: Postgres, path: string): Promise<readonly string[]> {
  const has = [MARK, Buffer.from(MARK).toString("hex")].map((mark) => `t::text LIKE ''%%${mark}%%''`).join(" OR ");
  const names = await postgres.sql(
    `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'
     AND query_to_xml(format('SELECT 1 FROM %I t WHERE ${has}', table_name), true, false, '')::text LIKE '%<row%'`,
    path,
  );
  return names === "" ? [] : names.split("\n");
}

postgresTest(
  "PostgreSQL: no table has anything of a conversation that was deleted, and a shared image stays",
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

postgresTest(
  "PostgreSQL: conversations with content in common leave nothing, whichever are deleted at the same time",
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

postgresTest(
  "PostgreSQL: whenever a process that deletes is killed, the next one erases the rest",
  async (postgres) => {
    const path = await postgres.createDatabase();
    const { kept, erased } = await killedAtEach(path, {
      open: () => openStore({ path }),
      marks: () => marksOn(postgres, path),
    });
    assert.ok(kept >= 2 && erased >= 3, `${kept} kept, ${erased} erased`);
    const rows = "SELECT count(*) FROM (SELECT hash FROM content UNION ALL SELECT hash FROM long_value) t";
    assert.equal(await postgres.sql(rows, path), "0");
  },
);
