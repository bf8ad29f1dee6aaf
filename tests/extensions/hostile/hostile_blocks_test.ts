import assert from "node:assert/strict";
import { COMPILED_HEAP_MIB, V8_FLAGS } from "../../../scripts/flags.ts";
import { baseRuntime } from "../../helpers/base_runtime.ts";
import { HOSTILE_BLOCKS } from "./_blocks.ts";

const executable = (await baseRuntime()).ok;
const why = executable ? " (skipped: the executable does, in hostile_compiled_test.ts)" : "";

Deno.test(`a process with the heap of the executable survives every hostile block, and answers${why}`, {
  ignore: executable,
}, async () => {
  const flags = [...V8_FLAGS, `--max-old-space-size=${COMPILED_HEAP_MIB}`].join(",");
  const script = new URL("./_main.ts", import.meta.url).href;
  const args = ["run", "--quiet", "-A", `--v8-flags=${flags}`, script];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(code, 0, new TextDecoder().decode(stderr).slice(-2_000));
  assert.deepEqual(
    lines.map(({ name, status, after }) => [name, status, after]),
    HOSTILE_BLOCKS.map(([name]) => [name, "done", true]),
  );
});
