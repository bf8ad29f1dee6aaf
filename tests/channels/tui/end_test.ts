import assert from "node:assert/strict";
import { final, replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const slow: ScriptedReply = { text: replyJson([], { final: "never" }), delayMs: 60_000 };

function assertRestored(raw: string): void {
  for (
    const [on, off] of [["?1049h", "?1049l"], ["?2004h", "?2004l"], ["?1000h", "?1000l"], ["?25l", "?25h"], [
      "?7l",
      "?7h",
    ]]
  ) {
    const [last, back] = [raw.lastIndexOf(`\x1b[${on}`), raw.lastIndexOf(`\x1b[${off}`)];
    assert.ok(back > last, `${on} is not taken back`);
  }
}

Deno.test("an internal defect restores the terminal and is thrown", async () => {
  await withScreen([], {}, async ({ screen, code }) => {
    screen.type("text that cannot be drawn");
    await screen.until("cannot be drawn");
    Object.defineProperty(screen, "columns", {
      get: () => {
        throw new TypeError("a defect of drawing");
      },
    });
    screen.type("x");
    await assert.rejects(code, /a defect of drawing/);
    assertRestored(screen.raw);
    assert.equal(screen.started, false);
  });
});

Deno.test("an unhandled rejection restores the terminal", async () => {
  await withScreen([], {}, async ({ screen, code }) => {
    void Promise.reject(new TypeError("left alone"));
    await assert.rejects(code, /left alone/);
    assertRestored(screen.raw);
  });
});

Deno.test("a lost terminal ends the running query and the program", async () => {
  await withScreen([slow], {}, async ({ screen, code, gone, engine }) => {
    screen.type("go\r");
    await screen.until("waiting for");
    gone();
    assert.equal(await code, 129);
    assertRestored(screen.raw);
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.reason, "cancelled");
  });
});

Deno.test("quitting while a query or a command runs asks once, ends it, and shows how to continue", async () => {
  await withScreen([slow], {}, async ({ screen, code, out, engine }) => {
    const program = { id: "1", title: "npm run dev", startedAt: Date.now(), output: "", stop: () => {} };
    engine.conversations.programs = () => [program];
    screen.type("\x04");
    await screen.until("Ctrl-D again ends 1 running command, and quits");
    screen.type("x\x03");
    await screen.until("Ctrl-C again ends 1 running command, and quits");
    screen.type("go\r");
    await screen.until("waiting for");
    screen.type("/exit\r");
    await screen.until(
      /Ctrl-D again ends the running request and 1 running command, and quits;\s+vis -c\s+continues\s+the\s+request/,
    );
    screen.type("\x04");
    assert.equal(await code, 0);
    assertRestored(screen.raw);
    assert.match(out.join(""), /Resume with: vis --conversation/);
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.running, false);
  });
});

Deno.test("the question before quitting goes away when the request has ended", async () => {
  const { promise: after, resolve: release } = Promise.withResolvers<void>();
  await withScreen([{ text: final("It is done"), after }], {}, async ({ screen }) => {
    screen.type("go\r");
    await screen.until("waiting for");
    screen.type("/exit\r");
    await screen.until("Ctrl-D again ends the running request");
    release();
    await screen.until((text) => text.includes("It is done") && !text.includes("Ctrl-D again"));
  });
});
