import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../../../src/extension/mod.ts";
import type { Spawned } from "../../../../src/extension/spawn_types.ts";
import type { EngineOptions } from "../../../helpers/engine.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { withScreen } from "../_rig.ts";

/** `bg.start()` starts a program that runs until the conversation is closed, and does not wait for it. */
const BACKGROUND: Extension = {
  namespace: "test.bg",
  alias: { ns: "test.ext.bg", alias: "bg" },
  doc: "Starts.",
  version: "0.1.0",
  symbols: [
    fn("start", ({ spawn }: EnvironmentView) => {
      void spawn?.(["dev"], { title: "npm run dev", lifetime: "conversation" }).catch(() => {});
      return Promise.resolve("started");
    }, { doc: "Starts.", args: z.tuple([]), returns: "string" }),
  ],
};

Deno.test("/jobs shows background commands and their output, and Delete stops one", async () => {
  const ends: string[] = [];
  const spawn: NonNullable<EngineOptions["spawn"]> = (_workspace, _argv, { onOutput, stop } = {}) => {
    onOutput?.("stdout", new TextEncoder().encode("ready on 3000\nwaiting\n"));
    const how: Spawned = {
      ...{ code: 143, signal: "SIGTERM", stdout: "", stderr: "", ms: 1, timedOut: false, truncated: false, notes: [] },
    };
    return new Promise((resolve) => {
      stop?.addEventListener("abort", () => {
        ends.push("stopped");
        resolve(how);
      });
    });
  };
  const engine = { extensions: [BACKGROUND], spawn };
  await withScreen([replyJson("await bg.start()"), final("Done: started")], { engine }, async ({ screen }) => {
    screen.type("/jobs\r");
    await screen.until("no command runs in the background");
    screen.type("\x1b");
    await screen.until((now) => !now.includes("no command runs"));
    screen.type("go\r");
    await screen.until("Done: started");
    screen.type("/jobs\r");
    await screen.until(/❯ npm run dev {2}waiting/);
    screen.type("\r");
    await screen.until("ready on 3000");
    screen.type("\x1b[3~\x1b");
    await screen.until("no command runs in the background");
    assert.deepEqual(ends, ["stopped"]);
  });
});
