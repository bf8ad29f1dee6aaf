import assert from "node:assert/strict";
import { keyAction, readKeys } from "../../../src/channels/tui/keyboard.ts";
import { withScreen } from "./_rig.ts";

const WHERE = { empty: true, choosing: false, waiting: false, following: true };

Deno.test("keyAction() handles a key where it has a meaning, and passes it to the input elsewhere", () => {
  const rows: readonly (readonly [string, Partial<typeof WHERE>, string | null])[] = [
    ["\x0b", {}, "palette"],
    ["\x0b", { empty: false }, "palette"],
    ["?", {}, "help"],
    ["\x1bi", {}, "inspect"],
    ["?", { empty: false }, null],
    ["\x04", {}, "quit"],
    ["\x04", { empty: false }, null],
    ["\x1b", {}, "escape"],
    ["\x1b", { choosing: true }, null],
    ["\x1b[A", {}, null],
    ["\x1b[A", { waiting: true }, "takeBack"],
    ["\x1b[A", { waiting: true, empty: false }, null],
    ["\x1b[F", {}, null],
    ["\x1b[F", { following: false }, "end"],
    ["\x1b[5~", {}, "pageUp"],
    ["\x19", {}, "copy"],
    ["\x19", { empty: false }, null],
    ["\x1br", {}, "retry"],
    ["\x1bm", {}, "more"],
    ["\x1br", { empty: false }, null],
    ["\x1b[Z", {}, "planMode"],
    ["\x1b[Z", { choosing: true }, null],
    ["\x1b[1;3A", { empty: false }, "back"],
    ["\x1b[1;3B", {}, "forth"],
    ["\r", {}, null],
    ["a", {}, null],
    ["\x1b[107;5u", {}, "palette"], // This is the same key in Kitty's protocol.
  ];
  for (const [data, where, action] of rows) {
    assert.equal(keyAction(data, { ...WHERE, ...where }), action, JSON.stringify([data, where]));
  }
});

Deno.test("a key of the user takes precedence over the usual key of another action", () => {
  const own = { inputs: "ctrl+k", end: "alt+e" };
  assert.deepEqual(["\x0b", "\x1be", "\x12"].map((data) => keyAction(data, WHERE, own)), ["inputs", "end", null]);
});

Deno.test("readKeys() refuses unknown actions, invalid keys and fixed keys, and keeps the other keys", () => {
  const good = {
    palette: "ctrl+shift+p",
    retry: "Alt+G",
    help: "f12",
    todo: "T",
    end: "esc",
    start: "+",
    more: "alt+pageUp",
  };
  assert.deepEqual(readKeys(good), { keys: good, faults: [] });
  for (const key of ["ctl+p", "ctrl-p", "ctrl+", "", "f13", "shift+f2", "ctrl+esc", "7x", "ctrl+enterr"]) {
    const { keys, faults } = readKeys({ ...good, copy: key });
    assert.deepEqual(keys, good);
    assert.match(
      faults.join("\n"),
      /^Cannot use the key of copy in tui\.json: .+ is not the name of a key; write one such as ctrl\+p/,
    );
  }
  assert.match(readKeys({ copy: "Ctrl+V" }).faults.join("\n"), /Ctrl\+V has a fixed action; choose another key$/);
  assert.match(readKeys({ nosuch: "f2" }).faults.join("\n"), /Vis has no such action; choose one of palette, help/);
});

Deno.test("a new conversation begins with an introduction to Vis, and ? shows the keys", async () => {
  await withScreen([], {}, async ({ screen }) => {
    const text = await screen.until("Ask anything");
    assert.match(text, /vis\n Ask for anything in this folder[^]*\/ lists the commands[^]*Ctrl-D quits/);
    screen.type("a");
    assert.ok(!(await screen.until(/^ a/m)).includes("Ask anything"));
    screen.type("\x7f?");
    await screen.until("Keys and commands");
    screen.type("\x1b[F");
    await screen.until(/\/quit +quit \(Ctrl-D\)/);
  });
});
