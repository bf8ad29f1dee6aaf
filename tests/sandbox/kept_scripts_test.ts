import assert from "node:assert/strict";
import { V8_FLAGS } from "../../scripts/flags.ts";
import { childProgram } from "../../src/sandbox/launch.ts";
import { buildSandbox } from "../helpers/sandbox.ts";

/** Returns the bytes of the heap that one script leaves behind and that no object refers to. */
const LEFT_BY_A_SCRIPT = `
  import vm from "node:vm";
  const COUNT = 4000;
  const used = async () => {
    for (let time = 0; time < 2; time++) await new Promise((done) => setTimeout(done, 0)).then(() => gc());
    return Deno.memoryUsage().heapUsed;
  };
  const run = (i) => new vm.Script("(function () { return " + i + "; })", { filename: "block" + i }).runInThisContext()();
  for (let i = 0; i < 100; i++) run(i);
  const before = await used();
  for (let i = 100; i < 100 + COUNT; i++) run(i);
  console.log((await used() - before) / COUNT);
`;

Deno.test("a block that has run leaves nothing in the runtime", async () => {
  await buildSandbox();
  const { args } = childProgram({ memoryBytes: 512 << 20, allPermissions: false });
  const ofSource = args.find((arg) => arg.startsWith("--v8-flags=")) ?? "";
  const ofExecutable = `--v8-flags=${V8_FLAGS.join(",")}`;
  for (const flags of [ofSource, ofExecutable]) {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-lock", `${flags},--expose-gc`, "-"],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(LEFT_BY_A_SCRIPT));
    await writer.close();
    const left = Number(new TextDecoder().decode((await child.output()).stdout));
    assert.ok(left < 200, `${left} bytes with ${flags}`);
  }
});
