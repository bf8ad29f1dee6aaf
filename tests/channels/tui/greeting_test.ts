import assert from "node:assert/strict";
import { withScreen } from "./_rig.ts";

Deno.test("a new conversation begins with what Vis is and what to type, and ? shows the keys", async () => {
  await withScreen([], {}, async ({ screen }) => {
    const text = await screen.until("Ask anything");
    assert.match(text, /vis\n Ask for anything in this folder[^]*\/ lists the commands[^]*Ctrl-D quits/);
    screen.type("a");
    assert.ok(!(await screen.until(/^ a/m)).includes("Ask anything"));
    screen.type("\x7f?");
    await screen.until("Keys and commands");
    screen.type("\x1b[F");
    await screen.until("/quit: quit");
  });
});
