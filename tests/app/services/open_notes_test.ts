import assert from "node:assert/strict";
import { openNotes } from "../../../src/app/services/serve.ts";

Deno.test("openNotes() warns about a server that other machines can reach, and names the setting that admits them", () => {
  assert.deepEqual([...openNotes("127.0.0.1", []), ...openNotes("localhost", [])], []);
  assert.match(openNotes("0.0.0.0", []).join(), /server\.hosts.*other machines can reach 0\.0\.0\.0.*TLS/);
  assert.match(openNotes("::", []).join(), /server\.hosts/);
  for (const notes of [openNotes("0.0.0.0", ["vis.example.org"]), openNotes("192.168.1.7", [])]) {
    assert.doesNotMatch(notes.join(), /server\.hosts/);
  }
});
