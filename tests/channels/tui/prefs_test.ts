import assert from "node:assert/strict";
import { join } from "node:path";
import { DEFAULT_PREFS, PrefsFile } from "../../../src/channels/tui/prefs.ts";

async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(join(folder, "home", "tui.json"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("PrefsFile.open() uses the defaults without a file, and writes nothing", async () => {
  await inFolder(async (path) => {
    const { prefs, note } = await PrefsFile.open(path);
    assert.deepEqual([prefs.get(), note], [DEFAULT_PREFS, ""]);
    await assert.rejects(Deno.stat(path));
  });
});

Deno.test("PrefsFile.set() holds at once, is kept, and its owner alone may read it", async () => {
  await inFolder(async (path) => {
    const { prefs } = await PrefsFile.open(path);
    const kept = prefs.set({ thinking: false });
    assert.equal(prefs.get().thinking, false);
    await Promise.all([kept, prefs.set({ theme: "light" }), prefs.set({ mouse: false })]);
    const expected = { ...DEFAULT_PREFS, thinking: false, theme: "light", mouse: false };
    assert.deepEqual((await PrefsFile.open(path)).prefs.get(), expected);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assert.deepEqual([...Deno.readDirSync(join(path, ".."))].map(({ name }) => name), ["tui.json"]);
  });
});

Deno.test("PrefsFile.open() returns the defaults and a note for a bad file, and the next change repairs it", async () => {
  for (const text of ["{", "[]", "7", "\0"]) {
    await inFolder(async (path) => {
      await Deno.mkdir(join(path, ".."), { recursive: true });
      await Deno.writeTextFile(path, text);
      const { prefs, note } = await PrefsFile.open(path);
      assert.deepEqual(prefs.get(), DEFAULT_PREFS);
      assert.match(note, /^Cannot use .*: .*; (?:correct or delete the file|let Vis read the file, or delete it)$/);
      await prefs.set({ iterations: false });
      const after = await PrefsFile.open(path);
      assert.deepEqual([after.prefs.get().iterations, after.note], [false, ""]);
    });
  }
});

Deno.test("PrefsFile.open() uses the default of an invalid value, and keeps the others", async () => {
  await inFolder(async (path) => {
    await Deno.mkdir(join(path, ".."), { recursive: true });
    await Deno.writeTextFile(path, JSON.stringify({ theme: "pink", mouse: 0, thinking: false, __proto__: 1 }));
    assert.deepEqual((await PrefsFile.open(path)).prefs.get(), { ...DEFAULT_PREFS, thinking: false });
  });
});

Deno.test("PrefsFile.set() keeps unknown keys and the changes of another process", async () => {
  await inFolder(async (path) => {
    const one = (await PrefsFile.open(path)).prefs;
    const other = (await PrefsFile.open(path)).prefs;
    await one.set({ mouse: false });
    await Deno.writeTextFile(path, JSON.stringify({ ...JSON.parse(await Deno.readTextFile(path)), later: [1] }));
    await other.set({ theme: "dark" });
    assert.deepEqual(JSON.parse(await Deno.readTextFile(path)), { mouse: false, later: [1], theme: "dark" });
  });
});

Deno.test("PrefsFile.set() rejects if the file cannot be written, still applies the value, and can be retried", async () => {
  await inFolder(async (path) => {
    await Deno.writeTextFile(join(path, "..", "..", "home"), "no folder");
    const { prefs } = await PrefsFile.open(path);
    await assert.rejects(prefs.set({ thinking: false }));
    assert.equal(prefs.get().thinking, false);
    await Deno.remove(join(path, ".."));
    await prefs.set({ mouse: false });
    const kept = (await PrefsFile.open(path)).prefs.get();
    assert.equal(kept.mouse, false);
    assert.equal(kept.thinking, false);
  });
});
