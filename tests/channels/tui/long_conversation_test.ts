import assert from "node:assert/strict";
import { cpuMs } from "../../helpers/cpu_ms.ts";
import type { Engine } from "../../helpers/engine.ts";
import { fillLong } from "../../helpers/fill_long.ts";
import { withScreen } from "./_rig.ts";

Deno.test("a conversation of 5000 iterations opens at its end at once, and scrolls without a pause", async () => {
  const id = { value: "" };
  const before = async (engine: Engine): Promise<void> => {
    await fillLong(engine, 300);
    const [listed] = await engine.conversations.list({ limit: 1 });
    id.value = listed?.conversationId ?? "";
  };
  const engine = { path: ":memory:" };
  const began = { at: 0 };
  const place = {
    get conversation() {
      began.at = cpuMs();
      return id.value;
    },
  };
  await withScreen([], { before, place, engine, rows: 40 }, async ({ screen }) => {
    await screen.until("read(5000)");
    const opened = cpuMs() - began.at;
    assert.ok(opened < 1_500, `opened in ${opened} ms`);
    for (let page = 0; page < 60; page++) {
      const from = cpuMs();
      screen.type("\x1b[5~");
      await screen.settled();
      assert.ok(cpuMs() - from < 250, "a page takes its time");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await screen.until(/read\(4[0-8]\d\d\)/);
    screen.type("\x1b[1;5H");
    await screen.until("› The first of many");
    screen.type("\x1b[6~");
    await screen.until("› Part ");
    screen.type("\x1b[F");
    await screen.until("read(5000)");
  });
});
