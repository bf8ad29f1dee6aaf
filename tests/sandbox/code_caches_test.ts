import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { SANDBOX_SCRIPTS } from "../../scripts/bundle.ts";
import { childProgram } from "../../src/sandbox/launch.ts";
import { buildSandbox } from "../helpers/sandbox.ts";

const FOLDER = fileURLToPath(new URL("../../build/sandbox/", import.meta.url));

const REFUSED = `import { Script } from "node:vm";
console.log(${JSON.stringify(SANDBOX_SCRIPTS)}.map((name) => {
  const cachedData = Deno.readFileSync(${JSON.stringify(FOLDER)} + name.replace(/js$/, "cache"));
  return new Script(Deno.readTextFileSync(${JSON.stringify(FOLDER)} + name), { cachedData }).cachedDataRejected;
}).join());`;

Deno.test("V8 takes the code caches of the scripts with the flags of a child, whatever memory it may use", async () => {
  await buildSandbox();
  for (const memoryBytes of [128 << 20, 1 << 30]) {
    const { path, args } = childProgram({ memoryBytes, allPermissions: false });
    const flags = args.filter((arg) => arg.startsWith("--v8-flags="));
    const { stdout, stderr } = await new Deno.Command(path, { args: ["eval", "--no-config", ...flags, REFUSED] })
      .output();
    const text = new TextDecoder();
    assert.equal(text.decode(stdout), "false,false,false\n", text.decode(stderr));
  }
});
