import assert from "node:assert/strict";
import { readiness } from "../../src/app/readiness.ts";

function rig() {
  const state = { at: 0, tries: 0, fault: "", free: 1e12, file: "1 7" };
  const check = readiness({
    database: "/data/vis.db",
    now: () => state.at,
    freeBytes: (path) => path === "/data" ? Promise.resolve(state.free) : Promise.reject(new Error(path)),
    fileAt: () => Promise.resolve(state.file),
    trySandbox: () => {
      state.tries++;
      return state.fault === "" ? Promise.resolve() : Promise.reject(new Error(state.fault));
    },
  });
  return { state, check };
}

Deno.test("readiness() tries a sandbox once for many who ask, and again after its time", async () => {
  const { state, check } = rig();
  const all = await Promise.all([check(), check(), check()]);
  assert.deepEqual(all, Array(3).fill({ sandbox: "", disk: "", file: "" }));
  assert.equal(state.tries, 1);
  state.at = 299_999;
  await check();
  assert.equal(state.tries, 1);
  state.at = 300_000;
  await check();
  assert.equal(state.tries, 2);
});

Deno.test("readiness() says what is wrong, and looks again soon", async () => {
  const { state, check } = rig();
  Object.assign(state, { fault: "Cannot start", free: 10 * 1024 * 1024 });
  const faults = { sandbox: "Cannot start", disk: "10 MiB are free, 64 are needed", file: "" };
  assert.deepEqual(await check(), faults);
  Object.assign(state, { fault: "", free: 1e12, at: 5_000 });
  assert.deepEqual(await check(), { sandbox: "", disk: "", file: "" });
});

Deno.test("readiness() asks nothing of the disk for a database in memory, and names a folder that is gone", async () => {
  const trySandbox = () => Promise.resolve();
  const memory = readiness({ database: ":memory:", now: () => 0, trySandbox });
  assert.equal((await memory()).disk, "");
  const gone = readiness({ database: "/does/not/exist/vis.db", now: () => 0, trySandbox });
  assert.match((await gone()).disk, /ENOENT/);
});

Deno.test("readiness() says that the file of an open database was removed, replaced, or is one that nobody may write", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-ready-" });
  try {
    const database = `${folder}/vis.db`;
    await Deno.writeTextFile(database, "");
    const check = readiness({ database, now: () => 0, trySandbox: () => Promise.resolve() });
    assert.equal((await check()).file, "");
    await Deno.writeTextFile(database, "more"); // the same file
    assert.equal((await check()).file, "");
    await Deno.writeTextFile(`${folder}/other.db`, "");
    await Deno.rename(`${folder}/other.db`, database);
    assert.match((await check()).file, /replaced/);
    await Deno.remove(database);
    assert.match((await check()).file, /removed/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  if (Deno.build.os === "linux") {
    const database = "/sys/module/kernel/parameters/panic"; // nothing can be made beside it, not even by root
    const check = readiness({ database, now: () => 0, trySandbox: () => Promise.resolve() });
    assert.match((await check()).file, /cannot be written: /);
  }
  const fileAt = () => Promise.reject(Object.assign(new Error("x"), { code: "EROFS" }));
  const closed = readiness({ database: "/data/vis.db", now: () => 0, trySandbox: () => Promise.resolve(), fileAt });
  assert.equal((await closed()).file, "The file of the database cannot be written: EROFS");
});
