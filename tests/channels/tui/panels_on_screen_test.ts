import assert from "node:assert/strict";
import type { Session } from "../../../src/channels/channel.ts";
import { fakeConfig } from "./_fake_config.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const ESC = "\x1b";

Deno.test("Ctrl-K opens the palette over the messages, Esc leaves it, what stood in the input stays", async () => {
  await withScreen([], {}, async ({ screen }) => {
    screen.type("a draft");
    await screen.until("a draft");
    screen.type("\x0b");
    await screen.until("Commands");
    screen.type("help");
    await screen.until(/❯ help/);
    screen.type(ESC);
    await screen.until((text) => !text.includes("Commands") && text.includes("a draft"));
  });
});

Deno.test("a command of the palette is run with Enter", async () => {
  await withScreen([], { rows: 50 }, async ({ screen }) => {
    screen.type("\x0b");
    await screen.until("Commands");
    screen.type(`help${ENTER}`);
    await screen.until("/conversations: ");
  });
});

Deno.test("/new begins another conversation, and the one before is still there", async () => {
  await withScreen([final("First: 1"), final("Second: 2")], {}, async ({ screen, engine }) => {
    screen.type(`one${ENTER}`);
    await screen.until("First: 1");
    await screen.until("1 step ");
    screen.type(`/new${ENTER}`);
    await screen.until((text) => !text.includes("First: 1"));
    screen.type(`two${ENTER}`);
    await screen.until("Second: 2");
    assert.equal((await engine.conversations.list({ limit: 9 })).filter(({ queries }) => queries > 0).length, 2);
  });
});

Deno.test("/copy hands the last answer to the terminal's clipboard", async () => {
  await withScreen([final("Copy: this 日本")], {}, async ({ screen }) => {
    screen.type(`one${ENTER}`);
    await screen.until("1 step ");
    screen.type("\x19");
    await screen.until("Copied 13 characters");
    const from = screen.raw.lastIndexOf("\x1b]52;c;") + 7;
    const bytes = screen.raw.slice(from, screen.raw.indexOf("\x07", from));
    assert.equal(
      new TextDecoder().decode(Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))),
      "Copy: this 日本",
    );
  });
});

Deno.test("/model goes on with another session and keeps the choice; the one before is closed", async () => {
  const set: string[] = [];
  const closed: string[] = [];
  const opened: unknown[] = [];
  const session = { close: () => Promise.resolve(void closed.push("first")) };
  const parts = {
    open: (request: unknown): Promise<Session> => {
      opened.push(request);
      return Promise.resolve(held.session!);
    },
    config: () => Promise.resolve(fakeConfig((key, words) => void set.push(`${key} ${words.join(" ")}`))),
  };
  const held: { session: Session | null } = { session: null };
  await withScreen([final("ok: done")], { session, parts }, async ({ screen, engine }) => {
    held.session = {
      conversations: engine.conversations,
      ...{ workspace: "/nowhere", provider: "other", model: "big-1", database: "x", swept: 0 },
      close: () => Promise.resolve(void closed.push("second")),
    };
    screen.type(`/model other/big-1${ENTER}`);
    await screen.until("other big-1 · ");
    assert.deepEqual([opened, closed, set], [[{ provider: "other", model: "big-1" }], ["first"], [
      "model other/big-1",
    ]]);
    screen.type(`go${ENTER}`);
    await screen.until("ok: done");
  });
  assert.deepEqual(closed, ["first", "second"]);
});

Deno.test("what is dragged over with the mouse is copied", async () => {
  await withScreen([final("Drag: over these words")], {}, async ({ screen }) => {
    screen.type(`one${ENTER}`);
    await screen.until("1 step ");
    const row = screen.lines().findIndex((line) => line.includes("Drag: over")) + 1;
    screen.type(`\x1b[<0;1;${row}M`);
    screen.type(`\x1b[<32;5;${row}M`);
    screen.type(`\x1b[<0;5;${row}m`);
    await screen.until("Copied!");
    assert.ok(screen.raw.includes(`\x1b]52;c;${btoa("Drag")}`) || screen.raw.includes(`\x1b]52;c;${btoa("Drag:")}`));
  });
});
