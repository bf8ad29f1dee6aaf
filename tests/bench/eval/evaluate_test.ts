import assert from "node:assert/strict";
import { evaluate } from "../../../bench/eval/evaluate.ts";

async function run(...args: string[]) {
  const out: string[] = [], said: string[] = [];
  const code = await evaluate(args, { log: (line) => out.push(line), error: (line) => said.push(line) });
  return { code, out: out.join("\n"), said: said.join("\n") };
}

Deno.test("bench eval: unknown tasks and options end with 2 and the known ones", async () => {
  const task = await run("--tasks", "nothing/*");
  assert.equal(task.code, 2);
  assert.match(
    task.said,
    /^Cannot find task nothing\/\*: no task has this name; families.* series, counting, npm, and --list shows all tasks/,
  );
  const option = await run("--colour");
  assert.equal(option.code, 2);
  assert.match(option.said, /--colour[\s\S]*--tasks <names>/);
  assert.match((await run("--model", "big")).said, /^Cannot choose model big/);
  assert.match((await run("--parallel", "0")).said, /^Cannot use --parallel 0/);
  assert.match(
    (await run("--format", "xml")).said,
    /^Cannot use --format xml: the value is unknown; choose one of json, ts/,
  );
  assert.match(
    (await run("--arm", "direct", "--depth", "2")).said,
    /^Cannot use --depth or --format with --arm direct/,
  );
  assert.match((await run("--npm", "ini@1.0.0", "--tasks", "fixing")).said, /^Cannot use --npm with --tasks/);
  assert.match((await run("--npm", "../x")).said, /^Cannot add npm:\.\.\/x: its name or version is not valid/);
  assert.match((await run("--arm", "direct", "--tasks", "fixing")).said, /no chosen task fits into one prompt/);
});

Deno.test("bench eval: --list shows the chosen tasks and plays nothing", async () => {
  const { code, out } = await run("--list", "--tasks", "long");
  assert.equal(code, 0);
  assert.equal(out.split("\n").length, 14);
  assert.match(out, /^long\/needle$/m);
});
