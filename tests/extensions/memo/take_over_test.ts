import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { addMemo, readMemos, removeMemo } from "../../../extensions/memo/mod.ts";
import type { OwnStore } from "../../../src/extension/mod.ts";
import { OwnStores } from "../../environment/_own_stores.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const WORKSPACE = "/projects/a";
const NOTES = [
  { id: "00aa11", text: "Tests run with make check", at: "2026-01-01T00:00:00.000Z" },
  { id: "ff00ee", text: "Use tabs", at: "2026-01-02T00:00:00.000Z" },
];

async function earlierHome(home: string): Promise<void> {
  const name = createHash("sha256").update(WORKSPACE).digest("hex").slice(0, 32);
  await Deno.mkdir(join(home, "memo"));
  const project = JSON.stringify({ workspace: WORKSPACE, notes: NOTES }, null, 2);
  await Deno.writeTextFile(join(home, `memo/${name}.json`), project);
  await Deno.writeTextFile(join(home, "memo/user.json"), JSON.stringify({ notes: NOTES.slice(1) }));
}

Deno.test("notes of an earlier version are imported once, and removed ones stay removed", () =>
  withFolder(async (home) => {
    await earlierHome(home);
    await using stores = await OwnStores.open();
    const place = { home, workspace: WORKSPACE, store: stores.of("vis.memo", WORKSPACE) };
    assert.deepEqual(await readMemos(place, "project"), NOTES);
    assert.deepEqual(await readMemos(place, "user"), NOTES.slice(1));
    assert.deepEqual(await readMemos({ ...place, workspace: "/b", store: stores.of("vis.memo", "/b") }, "project"), []);
    await removeMemo(place, "00aa11");
    await addMemo(place, { text: "Another", scope: "project" });
    assert.deepEqual((await readMemos(place, "project")).map(({ text }) => text), ["Use tabs", "Another"]);
  }));

Deno.test("several processes import notes of an earlier version at the same time, and again after a kill", () =>
  withFolder(async (home) => {
    await earlierHome(home);
    await using stores = await OwnStores.open();
    const store = stores.of("vis.memo", WORKSPACE);
    const place = { home, workspace: WORKSPACE, store };
    for (let left = 0; left < NOTES.length + 1; left++) {
      await assert.rejects(readMemos({ ...place, store: failingAfter(left, store) }, "project"), /killed/);
    }
    const all = await Promise.all(Array.from({ length: 5 }, () => readMemos(place, "project")));
    for (const found of all) assert.deepEqual(found, NOTES);
  }));

Deno.test("a file without notes is named, and imported once it is corrected", () =>
  withFolder(async (home) => {
    await earlierHome(home);
    await Deno.writeTextFile(join(home, "memo/user.json"), "[]");
    await using stores = await OwnStores.open();
    const place = { home, workspace: WORKSPACE, store: stores.of("vis.memo", WORKSPACE) };
    await assert.rejects(
      readMemos(place, "user"),
      /user\.json: it contains no valid list of memos; correct or delete the file/,
    );
    await Deno.writeTextFile(join(home, "memo/user.json"), JSON.stringify({ notes: NOTES }));
    assert.deepEqual(await readMemos(place, "user"), NOTES);
  }));

/** Makes a store whose process ends after this number of writes. */
function failingAfter(writes: number, store: OwnStore): OwnStore {
  const kept = { left: writes };
  const put: OwnStore["put"] = async (...args) => {
    if (kept.left-- === 0) throw new Error("killed");
    return await store.put(...args);
  };
  return {
    put,
    get: (...args) => store.get(...args),
    query: (...args) => store.query(...args),
    list: (...args) => store.list(...args),
    history: (...args) => store.history(...args),
    delete: (...args) => store.delete(...args),
    putBytes: (...args) => store.putBytes(...args),
    bytes: (...args) => store.bytes(...args),
    dropBytes: (...args) => store.dropBytes(...args),
  };
}
