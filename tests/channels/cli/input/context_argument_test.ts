import assert from "node:assert/strict";
import { join } from "node:path";
import { readContextArgument } from "../../../../src/channels/cli/commands/run.ts";
import { fakeIo } from "../_fakes.ts";

Deno.test("readContextArgument() reads a file in pieces when it is asked for them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-context-" });
  try {
    const path = join(folder, "data.JSON");
    await Deno.writeTextFile(path, "x".repeat(3 << 20));
    const { label, json, pieces } = (await readContextArgument(path, fakeIo()))(undefined);
    assert.deepEqual([label, json], ["data.JSON", true]);
    let bytes = 0, count = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      count++;
    }
    assert.equal(bytes, 3 << 20);
    assert.ok(count >= 3);
    await assert.rejects(readContextArgument(join(folder, "none"), fakeIo()), {
      name: "UsageError",
      message: /there is no such file/,
    });
    await assert.rejects(readContextArgument(folder, fakeIo()), /is a folder/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("readContextArgument() waits for the writer of a pipe until the signal is aborted, and reads all it writes", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-context-" });
  try {
    const path = join(folder, "pipe");
    assert.ok((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
    const stop = new AbortController();
    const open = await readContextArgument(path, fakeIo());
    const read = Array.fromAsync(open(stop.signal).pieces);
    stop.abort(new Error("Enough"));
    await assert.rejects(read, { name: "Cancelled" });
    // This ends the abandoned read.
    await new Deno.Command("sh", { args: ["-c", 'echo unread > "$0"', path] }).output();
    const other = join(folder, "other");
    assert.ok((await new Deno.Command("mkfifo", { args: [other] }).output()).success);
    const whole = Array.fromAsync((await readContextArgument(other, fakeIo()))(undefined).pieces);
    await new Deno.Command("sh", { args: ["-c", '(echo first; echo second) > "$0"', other] }).output();
    assert.equal((await whole).map((piece) => new TextDecoder().decode(piece)).join(""), "first\nsecond\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("readContextArgument() reads stdin for -", async () => {
  const { label, json, pieces } = (await readContextArgument("-", fakeIo({ stdin: "a,b\n1,2\n" })))(undefined);
  assert.deepEqual([label, json, await new Response(ReadableStream.from(pieces)).text()], [
    "stdin",
    false,
    "a,b\n1,2\n",
  ]);
});
