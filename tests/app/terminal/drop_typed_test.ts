import assert from "node:assert/strict";
import { join } from "node:path";
import { dropTyped } from "../../../src/app/terminal/read_line.ts";
import { withFolder } from "../../helpers/with_folder.ts";

Deno.test("dropTyped() returns whether it could read the typed text", async () => {
  await withFolder(async (folder) => {
    const device = join(folder, "tty");
    assert.equal(dropTyped({ os: "linux", device }), false, "no terminal");
    await Deno.writeTextFile(device, "y\n".repeat(10_000));
    assert.equal(dropTyped({ os: "darwin", device }), true);
    assert.equal(dropTyped({ os: "linux", device: folder }), false, "it cannot be read");
  });
});

Deno.test("dropTyped() empties the buffer of a Windows console", () => {
  const calls: unknown[] = [];
  const flushing = (result: number) => () => ({
    GetStdHandle: (which: number) => {
      calls.push(which);
      return null;
    },
    FlushConsoleInputBuffer: () => result,
  });
  assert.equal(dropTyped({ os: "windows", console: flushing(1) }), true);
  assert.deepEqual(calls, [-10]);
  assert.equal(dropTyped({ os: "windows", console: flushing(0) }), false, "the input is no console");
  const none = (): never => {
    throw new Error("no kernel32.dll");
  };
  assert.equal(dropTyped({ os: "windows", console: none }), false);
});
