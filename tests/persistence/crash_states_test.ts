import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openStore } from "../../src/persistence/open_store.ts";
import { withDatabasePath } from "./_temp_database.ts";

const WRITER = fileURLToPath(new URL("_state_writer.ts", import.meta.url));

Deno.test("a state that was stored survives SIGKILL, and each version is whole", () =>
  withDatabasePath(async (path) => {
    const before = await openStore({ path });
    const { branchId } = await before.createConversation({ title: "t", channel: "test", workspace: "/nowhere" });
    await before.close();
    const args = ["run", "--allow-all", "--quiet", WRITER, path, branchId];
    const child = new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "piped", stderr: "inherit" })
      .spawn();
    let text = "";
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.split("\n").length > 20) break;
    }
    child.kill("SIGKILL");
    await child.status;
    const acknowledged = Number(text.trimEnd().split("\n").at(-1));
    const store = await openStore({ path });
    try {
      assert.deepEqual(await store.check(), []);
      const history = await store.states.history({ namespace: "test.a", branchId }, { key: "k", limit: 1000 });
      assert.ok(history.length >= acknowledged, `${history.length} of ${acknowledged}`);
      for (const { version, value } of history) {
        assert.deepEqual(value, { n: version, text: `${version} `.repeat(3000) });
      }
    } finally {
      await store.close();
    }
  }));
