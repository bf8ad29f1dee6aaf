import assert from "node:assert/strict";
import { join } from "node:path";
import { renameOver } from "../../../src/domain/kit/rename_over.ts";
import { withFolder } from "../../helpers/with_folder.ts";

/** A system whose first renames fail. */
function held(times: number, code = "EPERM") {
  const pauses: number[] = [], names: string[] = [];
  const attempt = (from: string, to: string): Promise<void> => {
    names.push(`${from} ${to}`);
    if (names.length > times) return Promise.resolve();
    return Promise.reject(Object.assign(new Error("rename failed"), { code }));
  };
  const sleep = (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  return { names, pauses, attempt, sleep };
}

Deno.test("renameOver() replaces a file", async () => {
  await withFolder(async (folder) => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    await Deno.writeTextFile(from, "new");
    await Deno.writeTextFile(to, "old");
    await renameOver(from, to);
    assert.equal(await Deno.readTextFile(to), "new");
    await assert.rejects(renameOver(from, to), { code: "ENOENT" });
  });
});

Deno.test("renameOver() on Windows closes what is open and waits for who holds the file", async () => {
  const windows = { ...held(3), os: "windows" as const };
  let released = 0;
  await renameOver("a", "b", { ...windows, release: () => released++ });
  assert.deepEqual([windows.names, windows.pauses, released], [Array(4).fill("a b"), [50, 50, 50], 1]);
  const forever = { ...held(99, "EBUSY"), os: "windows" as const };
  await assert.rejects(renameOver("a", "b", forever), { code: "EBUSY" });
  assert.equal(forever.names.length, 10);
  const missing = { ...held(1, "ENOENT"), os: "windows" as const };
  await assert.rejects(renameOver("a", "b", missing), { code: "ENOENT" });
  assert.equal(missing.names.length, 1);
});

Deno.test("renameOver() elsewhere keeps what is open, with its lock, and fails at once", async () => {
  const linux = { ...held(1), os: "linux" as const, release: () => assert.fail("the lock is held") };
  await assert.rejects(renameOver("a", "b", linux), { code: "EPERM" });
  assert.equal(linux.names.length, 1);
});
