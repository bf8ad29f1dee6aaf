import assert from "node:assert/strict";
import { join } from "node:path";
import { InputHistory } from "../../../../src/channels/tui/input/input_history.ts";
import { withFolder } from "../../../helpers/with_folder.ts";

Deno.test("read() returns the additions of several processes, each once, the newest last", async () => {
  await withFolder(async (folder) => {
    const [one, two] = [new InputHistory(join(folder, "h/x.jsonl")), new InputHistory(join(folder, "h/x.jsonl"))];
    one.add("first");
    await one.settled();
    two.add("second\nwith a line");
    await two.settled();
    one.add("first");
    await one.settled();
    assert.deepEqual(await two.read(), ["second\nwith a line", "first"]);
  });
});

Deno.test("an invalid file, or an unwritable one, costs only the history", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "x.jsonl");
    await Deno.writeTextFile(path, 'broken\n{"a":1}\n"good"\n');
    assert.deepEqual(await new InputHistory(path).read(), ["good"]);
    const nowhere = new InputHistory(join(path, "below/a/file.jsonl"));
    nowhere.add("lost");
    await nowhere.settled();
    assert.deepEqual(await nowhere.read(), []);
  });
});

Deno.test("the file does not grow without limit, and accepts no megabytes", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "x.jsonl");
    await Deno.writeTextFile(path, Array.from({ length: 5_000 }, (_, n) => `"typed ${n}"\n`).join(""));
    const history = new InputHistory(path);
    assert.equal((await history.read()).length, 300);
    history.add("x".repeat(20_000));
    await history.settled();
    const lines = (await Deno.readTextFile(path)).trim().split("\n");
    assert.deepEqual([lines.length, lines.at(-1)], [300, '"typed 4999"']);
    if (Deno.build.os !== "windows") assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  });
});

Deno.test("each folder has its own history; without a home, no history is kept", async () => {
  await withFolder(async (folder) => {
    const [a, b] = [await InputHistory.at(folder, "/a"), await InputHistory.at(folder, "/b")];
    a?.add("of a");
    await a?.settled();
    assert.deepEqual([await a?.read(), await b?.read()], [["of a"], []]);
    assert.equal(await InputHistory.at(null, "/a"), null);
  });
});
