import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../../scripts/_project.ts";

async function bench(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--no-check",
      "--config",
      join(ROOT, "deno.json"),
      join(ROOT, "bench/run.ts"),
      ...args,
    ],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const [out = "", said = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out, said };
}

Deno.test("bench eval: unknown tasks and options end with 2 and what exists; --list plays nothing", async () => {
  const [task, option, model, listed] = await Promise.all([
    bench("eval", "--tasks", "nothing/*"),
    bench("eval", "--colour"),
    bench("eval", "--model", "big"),
    bench("eval", "--list", "--tasks", "long"),
  ]);
  assert.deepEqual([task.code, option.code, model.code, listed.code], [2, 2, 2, 0]);
  assert.match(task.said, /Cannot find task nothing\/\*: Families are puzzles, files, fixing, long, series/);
  assert.match(option.said, /--colour[\s\S]*--tasks <names>/);
  assert.match(model.said, /Cannot choose model big/);
  assert.equal(listed.out.trim().split("\n").length, 14);
});
