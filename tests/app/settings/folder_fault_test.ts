import assert from "node:assert/strict";
import { join } from "node:path";
import { folderFault } from "../../../src/app/services/readiness.ts";

Deno.test("folderFault() checks an existing folder, or the folder in which it would be created", async () => {
  const folder = await Deno.makeTempDir();
  try {
    assert.equal(folderFault(folder), "");
    assert.equal(folderFault(join(folder, "a", "b")), "");
    assert.deepEqual([...Deno.readDirSync(folder)], []);
    const file = join(folder, "file");
    await Deno.writeTextFile(file, "");
    assert.equal(folderFault(file), `${file} is not a folder`);
    assert.equal(folderFault(join(file, "a")), "a part of its path is not a folder");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test(
  "folderFault() reports a folder in which nothing can be created",
  { ignore: Deno.build.os !== "linux" },
  () => {
    assert.equal(folderFault("/proc/self/a/b"), "there is no such file or folder");
    assert.notEqual(folderFault("/sys/kernel/a"), "");
  },
);

const root = Deno.build.os === "windows" || Deno.uid() === 0; // File permissions do not restrict these users.

Deno.test("folderFault() reports a folder that may not be written", { ignore: root }, async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.chmod(folder, 0o500);
    assert.equal(folderFault(join(folder, "a", "b")), "access is denied");
  } finally {
    await Deno.chmod(folder, 0o700);
    await Deno.remove(folder, { recursive: true });
  }
});
