import assert from "node:assert/strict";
import { readFreshLine, readLine } from "../../../src/app/terminal/read_line.ts";
import { Cancelled } from "../../../src/domain/errors.ts";

function terminal(...chunks: (string | Promise<null>)[]) {
  const shown: string[] = [];
  const handlers = new Set<() => void>();
  const stdin = {
    read: (into: Uint8Array) => {
      const chunk = chunks.shift() ?? null;
      if (typeof chunk !== "string") return Promise.resolve(chunk);
      return Promise.resolve(new TextEncoder().encodeInto(chunk, into).written);
    },
  };
  const onInterrupt = (run: () => void) => {
    handlers.add(run);
    return () => handlers.delete(run);
  };
  return { shown, handlers, stdin, onInterrupt, write: (text: string) => void shown.push(text) };
}

Deno.test("readLine() returns a line without its end and without surrounding blanks", async () => {
  for (const [chunks, line] of [[["2\n"], "2"], [[" zai", " \r\n"], "zai"], [["\n"], ""], [["end"], "end"]] as const) {
    const { shown, handlers, ...rest } = terminal(...chunks);
    assert.equal(await readLine("Number: ", rest), line);
    assert.deepEqual([shown, handlers.size], [["Number: "], 0]);
  }
});

Deno.test("readFreshLine() ignores a line that was typed before its prompt was shown", async () => {
  const { shown, ...rest } = terminal("y\n", "a\ny\n", "412\n", "413 y\n");
  assert.equal(await readFreshLine("Allow it?", { ...rest, code: "413" }), "y");
  assert.deepEqual(shown, ["Allow it?\nBegin with 413: ", ...Array(3).fill("Begin with 413: ")]);
  await assert.rejects(readFreshLine("Allow it?", { ...terminal("y\n"), code: "413" }), Cancelled);
});

Deno.test("readLine() is cancelled by Ctrl-C and Ctrl-D", async () => {
  await assert.rejects(readLine("Number: ", terminal()), Cancelled);
  const waiting = terminal(new Promise<null>(() => {}));
  const asked = assert.rejects(readLine("Number: ", waiting), Cancelled);
  for (const run of waiting.handlers) run();
  await asked;
  assert.deepEqual([waiting.shown, waiting.handlers.size], [["Number: ", "\n"], 0]);
});
