import assert from "node:assert/strict";
import { readiness } from "../../../src/app/services/readiness.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { withDatabase } from "../../helpers/with_database.ts";

function rig() {
  const state = { at: 0, tries: 0, fault: "", free: 1e12 };
  const check = readiness({
    database: "/data/vis.db",
    now: () => state.at,
    freeBytes: (path) => path === "/data" ? Promise.resolve(state.free) : Promise.reject(new Error(path)),
    fileFault: () => "",
    tryWrite: () => Promise.resolve(),
    trySandbox: () => {
      state.tries++;
      return state.fault === "" ? Promise.resolve() : Promise.reject(new Error(state.fault));
    },
  });
  return { state, check };
}

Deno.test("readiness() tests a sandbox once for many callers, and again after an interval", async () => {
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

Deno.test("readiness() names the fault, and checks again soon", async () => {
  const { state, check } = rig();
  Object.assign(state, { fault: "Cannot start", free: 10 * 1024 * 1024 });
  const faults = { sandbox: "Cannot start", disk: "the disk has 10 MiB free, and Vis needs 64 MiB", file: "" };
  assert.deepEqual(await check(), faults);
  Object.assign(state, { fault: "", free: 1e12, at: 5_000 });
  assert.deepEqual(await check(), { sandbox: "", disk: "", file: "" });
});

Deno.test("readiness() does not check the disk for a database in memory, and names a missing folder", async () => {
  const trySandbox = () => Promise.resolve();
  const fileFault = (): string => "";
  const memory = readiness({ database: ":memory:", now: () => 0, trySandbox, fileFault });
  assert.equal((await memory()).disk, "");
  const gone = readiness({ database: "/does/not/exist/vis.db", now: () => 0, trySandbox, fileFault });
  assert.match((await gone()).disk, /ENOENT/);
});

Deno.test("readiness() reports the fault of the open database's file, and a file that cannot be written", async () => {
  const rest = { now: () => 0, trySandbox: () => Promise.resolve() };
  await withDatabase(async (database) => {
    const store = await openStore({ path: database });
    const check = readiness({ database, fileFault: () => store.fileFault(), ...rest });
    assert.equal((await check()).file, "");
    await Deno.rename(database, `${database}.away`);
    assert.match(
      (await check()).file,
      /^the file was removed or renamed while it was in use, so later.* not at this path; restore its name, or start again/,
    );
    await Deno.writeTextFile(database, "");
    assert.match((await check()).file, /^another file took its place/);
    await Deno.rename(`${database}.away`, database);
    assert.equal((await check()).file, "");
    await store.close();
  });
  const fileFault = (): string => "";
  if (Deno.build.os === "linux") {
    const database = "/sys/module/kernel/parameters/panic"; // Even root can create no file there.
    assert.match((await readiness({ database, fileFault, ...rest })()).file, /^Vis cannot write the file: /);
  }
  const tryWrite = () => Promise.reject(Object.assign(new Error("x"), { code: "EROFS" }));
  const closed = readiness({ database: "/data/vis.db", fileFault, tryWrite, ...rest });
  assert.equal((await closed()).file, "Vis cannot write the file: EROFS");
});
