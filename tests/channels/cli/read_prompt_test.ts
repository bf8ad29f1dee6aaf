import assert from "node:assert/strict";
import { readPrompt } from "../../../src/channels/cli/read_prompt.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { fakeIo } from "./_fakes.ts";

Deno.test("readPrompt() joins words, and puts stdin below them", async () => {
  assert.equal(await readPrompt(["what", "is it"], fakeIo()), "what is it");
  assert.equal(await readPrompt(["review"], fakeIo({ stdin: "  indented\nlines\n\n" })), "review\n\n  indented\nlines");
  assert.equal(await readPrompt([], fakeIo({ stdin: "only this\n" })), "only this");
  assert.equal(await readPrompt(["word"], fakeIo({ stdin: "" })), "word");
});

Deno.test("readPrompt() does not wait for a terminal", async () => {
  const io = fakeIo({ readStdin: () => assert.fail("stdin was read"), stdinIsTerminal: true });
  assert.equal(await readPrompt(["x"], io), "x");
});

Deno.test("readPrompt() refuses nothing and binary data", async () => {
  for (const io of [fakeIo(), fakeIo({ stdin: "" }), fakeIo({ stdin: " \n\t" })]) {
    await assert.rejects(readPrompt([" "], io), UsageError);
  }
  await assert.rejects(readPrompt(["x"], fakeIo({ stdin: "a\0b" })), /Cannot read stdin as text/);
});
