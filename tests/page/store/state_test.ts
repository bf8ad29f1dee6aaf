import assert from "node:assert/strict";
import { entry, guarded, placeOfCommands, saidStatus } from "../../../src/page/store/state.ts";

Deno.test("the page says where to run a command that an error names", async () => {
  assert.equal(placeOfCommands("Cannot read notes.md: there is no such file"), "");
  assert.equal(
    placeOfCommands("Cannot find model x; vis models lists the models that exist"),
    "Run vis models on the server, where Vis runs",
  );
  assert.equal(
    placeOfCommands("Cannot open a connection; vis config set web.hosts example.org allows it"),
    "Run vis config on the server, where Vis runs, and start vis serve again: it reads its settings at the start",
  );
  entry.value = { shows: "page", why: "" };
  await guarded(() => Promise.reject(new Error("Cannot sign in: check the key (vis auth login anthropic)")));
  assert.deepEqual(saidStatus.value, {
    text: "Cannot sign in: check the key (vis auth login anthropic). Run vis auth on the server, where Vis runs",
    bad: true,
  });
});
