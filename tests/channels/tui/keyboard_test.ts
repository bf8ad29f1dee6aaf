import assert from "node:assert/strict";
import { keyAction } from "../../../src/channels/tui/keyboard.ts";
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
