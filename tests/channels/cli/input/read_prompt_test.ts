import assert from "node:assert/strict";
import { readPrompt } from "../../../../src/channels/cli/commands/run.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { fakeIo } from "../_fakes.ts";

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
  await assert.rejects(readPrompt(["x"], fakeIo({ stdin: "a\0b" })), /Cannot read stdin: it contains a NUL character/);
});

Deno.test("readPrompt() explains its waiting if stdin does not end", async () => {
  const asked = async (words: readonly string[], quiet = false) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const io = fakeIo({ stdin: "", readStdin: () => promise });
    const reading = readPrompt(words, io, { quiet, patienceMs: 1 });
    await new Promise((done) => setTimeout(done, 10));
    resolve("piped");
    await reading;
    return io.err;
  };
  assert.equal(
    await asked(["word"]),
    "vis: waiting for the end of stdin (append </dev/null to run without it)\n",
  );
  assert.equal(await asked([]), "vis: waiting for the end of stdin\n");
  assert.equal(await asked(["word"], true), "");
  const io = fakeIo({ stdin: "at once" });
  await readPrompt([], io, { patienceMs: 5 });
  await new Promise((done) => setTimeout(done, 15));
  assert.equal(io.err, "");
});

Deno.test("readPrompt() gives up on a stdin that does not end within the time limit", async () => {
  const io = fakeIo({ stdin: "", readStdin: () => new Promise(() => {}) });
  await assert.rejects(
    readPrompt(["word"], io, { timeout: 5 }),
    new UsageError(
      "Cannot read the request: stdin did not end within 0.005 s, the limit of --timeout; append </dev/null to run without it",
    ),
  );
});

Deno.test("readPrompt() takes - for stdin, and leaves stdin to an option that reads it", async () => {
  assert.equal(await readPrompt(["-"], fakeIo({ stdin: "count it\n" })), "count it");
  assert.equal(await readPrompt(["a", "-"], fakeIo({ stdin: "b" })), "a -\n\nb");
  await assert.rejects(readPrompt(["-"], fakeIo({ stdin: "" })), /its text is empty/);
  const io = fakeIo({ stdin: "", readStdin: () => assert.fail("stdin was read") });
  for (const inputs of [{ context: "-" }, { image: ["a.png", "-"] }]) {
    assert.equal(await readPrompt(["count it"], io, inputs), "count it");
    await assert.rejects(readPrompt(["-"], io, inputs), /its text is empty/);
  }
  await assert.rejects(readPrompt(["x"], io, { context: "-", image: ["-"] }), {
    name: "UsageError",
    message: /^Cannot use --context - and --image - together: each reads all of stdin; write one input to a file$/,
  });
});
