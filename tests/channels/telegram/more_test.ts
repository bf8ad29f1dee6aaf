import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { withBot } from "./_rig.ts";

const STOPS = Array.from({ length: 4 }, () => replyJson("1 + 1"));

Deno.test("an answer that stopped at the step limit has a button for ten more steps, and /more does the same", async () => {
  const replies = [...STOPS, final("Half"), replyJson("2 + 2"), final("Whole")];
  for (const how of ["button", "command"]) {
    await withBot(replies, async (rig) => {
      rig.api.say("go");
      await rig.until(() => rig.api.shown().some((text) => text.startsWith("⚠️ Half")), "half an answer");
      const half = rig.api.messages.find(({ texts }) => texts.at(-1)?.startsWith("⚠️ Half"));
      assert.deepEqual(half?.buttons, { "10 more steps": "more" });
      if (how === "command") rig.api.say("/more");
      else {
        rig.api.press("more", { chat: 7, message: half?.id ?? 0, user: 99 });
        rig.api.press("more", { chat: 7, message: half?.id ?? 0 });
      }
      await rig.until(() => rig.api.shown().some((text) => text.startsWith("Whole")), "the whole answer");
      assert.match(rig.engine.context(5), /^\[iter 1\/10\]/);
      const whole = rig.api.messages.find(({ texts }) => texts.at(-1)?.startsWith("Whole"));
      assert.deepEqual(whole?.buttons, {});
      rig.api.say("/more");
      await rig.until(
        () => rig.api.shown().some((text) => /it did not stop at its step limit \(/.test(text)),
        "a refusal",
      );
    });
  }
});
