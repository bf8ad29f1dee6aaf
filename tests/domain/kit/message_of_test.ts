import assert from "node:assert/strict";
import { messageOf, reasonOf } from "../../../src/domain/kit/message_of.ts";

Deno.test("messageOf() and reasonOf() say what was thrown, the latter to stand behind a colon", () => {
  assert.deepEqual([messageOf(new Error("It ended")), messageOf("text"), messageOf(null)], [
    "It ended",
    "text",
    "null",
  ]);
  const reasons = ["It ended", "TLS failed", "A part is wrong", "done"].map((text) => reasonOf(new Error(text)));
  assert.deepEqual(reasons, ["it ended", "TLS failed", "a part is wrong", "done"]);
});
