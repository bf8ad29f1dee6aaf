import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { StoreError, UsageError } from "../../src/domain/errors.ts";
import type { DatabaseCopyProgress } from "../../src/domain/records/database_maintenance.ts";
import { copyStore } from "../../src/persistence/copy_store.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import { SqliteMaintenance } from "../../src/persistence/sqlite/maintenance.ts";
import type { Store } from "../../src/persistence/store.ts";
import { readAll, richConversation } from "../conformance/store/archive.ts";
import { begun, block, image, iterate, newQuery, queryEnd } from "../conformance/store/fixtures.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";
import { type Postgres, postgresTests } from "../helpers/postgres.ts";
import { filled, noise } from "./_filled.ts";
import { withDatabasePath } from "./_temp_database.ts";

const COPIER = fileURLToPath(new URL("_copier.ts", import.meta.url));
const onServer = await postgresTests();
const GLOBAL = { namespace: "test.a", branchId: null };

function test(name: string, run: (facts: { file: string; folder: string; postgres: Postgres }) => Promise<void>): void {
  onServer(name, (postgres) => withDatabasePath((file, folder) => run({ file, folder, postgres })));
}

/** Stores everything that can be stored in a file, and leaves a query running. */
async function fill(path: string): Promise<void> {
  const store = await openStore({ path });
  const { branchId, conversationId } = await richConversation(store);
  const { queryId } = await filled(store, "first");
  await store.states.put(GLOBAL, { key: "of all", value: noise("state", 500).toHex() });
  const requestKey = { branchId, key: "key 1", fingerprint: "f".repeat(64) };
  await store.endQuery(await store.beginQuery(newQuery(branchId, "with a key", { requestKey })), queryEnd());
  await store.log({ level: "info", event: "seen", data: { text: "é".repeat(2000) }, queryId, conversationId });
  await filled(store, "second");
  await filled(store.of("ana"), "hers");
  await store.of("ana").states.put(GLOBAL, { key: "of all", value: "hers" });
  await store.close();
}

async function picture(path: string): Promise<unknown> {
  const all = await openStore({ path });
  try {
    return await Promise.all(["default", "ana"].map((tenant) => pictureOf(all.of(tenant))));
  } finally {
    await all.close();
  }
}

async function pictureOf(store: Store): Promise<unknown> {
  const conversations = await store.listConversations({ limit: 100 });
  const found = [];
  for (const { conversationId } of conversations) {
    const branches = await store.branches(conversationId);
    const archive = await archiveTextOf(store, conversationId);
    found.push({ archive, branches, read: await Promise.all(branches.map((one) => readAll(store, one.branchId))) });
  }
  const hers = store.of("ana");
  const [first] = await store.branches(conversations.at(-1)?.conversationId ?? "");
  return {
    conversations,
    found,
    external: await store.findExternal({ channel: "telegram", externalId: "chat-7" }),
    state: await store.states.history(GLOBAL, { key: "of all", limit: 9 }),
    key: await store.keyedQuery(first?.branchId ?? "", "key 1"),
    hers: [
      await hers.listConversations({ limit: 9 }),
      await hers.states.history(GLOBAL, { key: "of all", limit: 9 }),
      (await hers.search("answer of hers", { limit: 9 })).length,
    ],
    logs: await store.logs({ limit: 100 }),
    hits: (await store.search("answer of first", { limit: 50 })).map(({ ownerId }) => ownerId).sort(),
  };
}

function copy(
  from: string,
  to: string,
  onProgress: (progress: DatabaseCopyProgress) => void = () => {},
  signal = new AbortController().signal,
) {
  return copyStore({ from, to, signal, onProgress });
}

test("a file copied to PostgreSQL and back is the same for every reader, and sound", async ({ file, folder, postgres }) => {
  await fill(file);
  const url = await postgres.createDatabase();
  const seen: DatabaseCopyProgress[] = [];
  const { rows } = await copy(file, url, (progress) => seen.push(progress));
  assert.deepEqual(seen.at(-1), { step: "verifying", rows, of: rows });
  const before = await picture(file);
  assert.deepEqual(await picture(url), before);
  const back = join(folder, "back.db");
  assert.equal((await copy(url, back)).rows, rows);
  assert.deepEqual(await picture(back), before);
  const { problems, unused } = await new SqliteMaintenance({ path: back }).check();
  assert.deepEqual([problems, unused], [[], 0]);
  const [size, was] = [(await stat(back)).size, (await stat(file)).size];
  assert.ok(size < was * 1.2, `${size} bytes, from ${was}`);
  assert.equal((await stat(back)).mode & 0o777, 0o600);
});

test("rows stored after a copy come after all copied ones", async ({ file, folder, postgres }) => {
  await fill(file);
  const url = await postgres.createDatabase();
  await copy(file, url);
  const back = join(folder, "back.db");
  await copy(url, back);
  for (const path of [url, back]) {
    const copied = await openStore({ path });
    const [newest] = await copied.of("default").listConversations({ limit: 1 });
    const { branchId, conversationId } = await begun(copied, { text: "now" });
    const [now, then] = await copied.listConversations({ limit: 2 });
    assert.deepEqual([now?.conversationId, then?.conversationId], [conversationId, newest?.conversationId]);
    const queryId = await copied.beginQuery(newQuery(newest?.branchId ?? "", "more"));
    const more = block("secondList = 1", { saved: [image("secondList")] });
    await iterate(copied, { queryId, position: 0, blocks: [more] });
    await copied.setScope(newest?.branchId ?? "", { names: ["secondBig"], scope: "forgotten" });
    const queries = await copied.queries(newest?.branchId ?? "");
    assert.deepEqual(queries.map(({ text }) => text), ["find second", "more"]);
    const versions = await copied.variableVersions(newest?.branchId ?? "", "secondList");
    assert.deepEqual(versions.map(({ version }) => version).sort(), [1, 2, 3, 4]);
    assert.equal((await copied.queries(branchId)).length, 1);
    assert.deepEqual(await copied.check(), []);
    await copied.close();
  }
});

test("a copy that was stopped after any step continues and is the same", async ({ file, folder, postgres }) => {
  await fill(file);
  const before = await picture(file);
  for (const way of ["there", "back"]) {
    const from = way === "there" ? file : await postgres.createDatabase();
    if (way === "back") await copy(file, from);
    const to = way === "there" ? await postgres.createDatabase() : join(folder, "back.db");
    let steps = 0;
    for (let finished = false; !finished; steps++) {
      const stop = new AbortController();
      let left = 2;
      finished = await copy(from, to, ({ step }) => {
        if (step === "copying" && --left === 0) stop.abort();
      }, stop.signal).then(() => true, (error: Error) => {
        assert.equal(error.name, "Cancelled");
        return false;
      });
    }
    assert.ok(steps > 10, `${steps} steps`);
    assert.deepEqual(await picture(to), before);
  }
});

test("a copy whose process was killed continues; nothing opens it before", async ({ file, folder, postgres }) => {
  await fill(file);
  const before = await picture(file);
  const url = await postgres.createDatabase();
  for (const kill of [0, 1, 7, 13, 20]) await killedCopy(file, url, kill);
  await assert.rejects(openStore({ path: url }), /a copy to it is not finished; run the same vis db copy again/);
  await copy(file, url);
  assert.deepEqual(await picture(url), before);
  const back = join(folder, "back.db");
  for (const kill of [0, 3, 30]) await killedCopy(url, back, kill);
  await assert.rejects(stat(back));
  await copy(url, back);
  assert.deepEqual(await picture(back), before);
});

async function killedCopy(from: string, to: string, steps: number): Promise<void> {
  const args = ["run", "--allow-all", "--quiet", COPIER, from, to];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const input = child.stdin.getWriter();
  let seen = 0;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    seen += text.split("\n").length - 1;
    if (seen > steps) break;
    await input.write(new Uint8Array(1));
  }
  child.kill("SIGKILL");
  await child.status;
  await input.close().catch(() => {});
}

test("a database with data is refused, and stays unchanged", async ({ file, folder, postgres }) => {
  const store = await openStore({ path: file });
  await begun(store);
  await store.close();
  const url = await postgres.createDatabase();
  const other = await openStore({ path: url });
  await begun(other, { text: "theirs" });
  await other.close();
  const before = await picture(url);
  await assert.rejects(copy(file, url), {
    name: "UsageError",
    message: /already has data \(table \w+\); use an empty/,
  });
  assert.deepEqual(await picture(url), before);
  await assert.rejects(copy(url, file), { name: "UsageError", message: /it already exists; choose another path/ });
  await assert.rejects(copy(file, join(folder, "b.db")), { name: "UsageError", message: /use vis db backup/ });
  await assert.rejects(copy(url, url), {
    name: "UsageError",
    message: /use PGOPTIONS=.* pg_dump --enable-row-security/,
  });
  await assert.rejects(copy(join(folder, "none.db"), url), { name: "UsageError", message: /the file does not exist/ });
});

test("another source is refused while a copy is unfinished", async ({ file, folder, postgres }) => {
  const paths = [file, join(folder, "other.db")] as const;
  for (const path of paths) {
    const store = await openStore({ path });
    await begun(store);
    await store.close();
  }
  const url = await postgres.createDatabase();
  const stop = new AbortController();
  await assert.rejects(copy(paths[0], url, () => stop.abort(), stop.signal));
  await assert.rejects(copy(paths[1], url), (error: Error) => {
    return error instanceof UsageError && error.message.includes(`an unfinished copy of ${file}`);
  });
});

test("the source is written while it is copied; a change between two attempts is found", async ({ file, postgres }) => {
  await fill(file);
  const store = await openStore({ path: file });
  const [url, other] = [await postgres.createDatabase(), await postgres.createDatabase()];
  const before = await picture(file);
  let written: Promise<unknown> | null = null;
  await copy(file, url, () => written ??= begun(store, { text: "meanwhile" }));
  await written;
  assert.deepEqual(await picture(url), before);
  const stop = new AbortController();
  let left = 9;
  await assert.rejects(copy(file, other, () => --left || stop.abort(), stop.signal));
  const [newest] = await store.listConversations({ limit: 1 });
  await store.setTitle(newest?.branchId ?? "", "Another title");
  await store.close();
  await assert.rejects(copy(file, other), (error: Error) => {
    return error instanceof StoreError &&
      /of conversation_state differs between the source and the copy/.test(error.message);
  });
});

const DAMAGE = "UPDATE content SET bytes = CAST('other' AS BLOB) WHERE encoding = 'raw' AND length(bytes) > 2000";

test("a damaged text of the source ends the copy", async ({ file, postgres }) => {
  await fill(file);
  using db = new DatabaseSync(file);
  db.exec(DAMAGE);
  await assert.rejects(copy(file, await postgres.createDatabase()), (error: Error) => {
    return error instanceof StoreError && error.code === "corrupt" &&
      error.message.startsWith(`Cannot use database ${file}: it is damaged`);
  });
});

test("a damaged copy is not finished, and the error is about the copy", async ({ file, folder, postgres }) => {
  await fill(file);
  const url = await postgres.createDatabase();
  await copy(file, url);
  const back = join(folder, "back.db");
  const damaging = copy(url, back, ({ step, rows, of }) => {
    if (step !== "copying" || rows < of) return;
    using db = new DatabaseSync(`${back}.unfinished`);
    db.exec(DAMAGE);
  });
  await assert.rejects(damaging, {
    code: "corrupt",
    message: /^Cannot finish the copy: it is damaged \(content \S+ has changed since Vis stored it\); remove the unfin/,
  });
  await assert.rejects(stat(back));
});
