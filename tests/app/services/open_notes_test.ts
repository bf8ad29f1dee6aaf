import assert from "node:assert/strict";
import { openNotes } from "../../../src/app/services/serve.ts";

Deno.test("openNotes() warns about a server that other machines can reach", () => {
  assert.deepEqual([...openNotes("127.0.0.1"), ...openNotes("localhost")], []);
  assert.match(openNotes("0.0.0.0").join(), /other machines can reach 0\.0\.0\.0.*TLS/);
});
