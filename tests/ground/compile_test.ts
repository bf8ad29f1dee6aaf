import assert from "node:assert/strict";
import { join } from "node:path";
import { compileArguments, compileFailure, withSource } from "../../scripts/compile.ts";
import { PERMISSIONS } from "../../scripts/flags.ts";
import { Program } from "./_program.ts";

Deno.test("compileArguments() bakes in permissions, flags and the folder", () => {
  const args = compileArguments("/b", { output: "/out/vis", target: "aarch64-apple-darwin" });
  for (
    const flag of [...PERMISSIONS, "--no-prompt", "--no-npm", "--unstable-worker-options", "--unstable-no-legacy-abort"]
  ) {
    assert.ok(args.includes(flag), flag);
  }
  assert.ok(
    args.some((one) =>
      /^--v8-flags=--disallow-code-generation-from-strings,--max-semi-space-size=2,--no-compilation-cache,--heap-growing-percent=100,--max-old-space-size=\d+$/
        .test(one)
    ),
  );
  assert.equal(args[args.indexOf("--target") + 1], "aarch64-apple-darwin");
  assert.deepEqual(args.slice(-5), ["--include", "/b", "--output", "/out/vis", "/b/main.js"]);
  assert.ok(!compileArguments("/b", {}).includes("--target"));
});

Deno.test("compileFailure() distinguishes a missing base runtime from other failures", () => {
  const text =
    "error: Writing\n\nCaused by:\n    0: Setting up base binary.\n    1: error sending request for url (x)\n";
  assert.match(
    compileFailure(text, "aarch64-apple-darwin"),
    /^Cannot compile for aarch64-apple-darwin: the base runtime.*\n {2}error sending request.*\n.*DENORT_BIN/,
  );
  assert.equal(compileFailure("error: bad flag\n", "x"), "Cannot compile: error: bad flag");
});

Deno.test("without a base runtime, the compile task gives one clear error", async () => {
  await using program = await Program.make();
  const failing = "#!/bin/sh\necho 'error: Setting up base binary: not found' >&2\nexit 1\n";
  await program.write("bin/failing", failing);
  const env = { DENO_COMPILE: join(program.root, "bin/failing") };
  const { code, stdout, stderr } = await program.run(Deno.execPath(), {
    args: ["run", "-A", "scripts/compile.ts"],
    env,
  });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(
    stderr,
    new RegExp(
      `^Cannot compile for ${Deno.build.target}: the base runtime of deno compile is not available\\n`,
    ),
  );
});

Deno.test("withSource() fills in the address and the key of a release, and nothing that could be code", async () => {
  const code = await Deno.readTextFile(new URL("../../src/app/update/update.ts", import.meta.url));
  const made = withSource(code, { from: "https://example.org/vis/latest", publicKey: "RWQ+/=" });
  assert.match(made, /from: filled\("https:\/\/example\.org\/vis\/latest"\), publicKey: filled\("RWQ\+\/="\)/);
  assert.match(withSource(code), /from: filled\(""\), publicKey: filled\(""\)/);
  for (const from of ['https://a.example/"+x+"', "https://a.example/\\", "https://a.example/`", "a\nb"]) {
    assert.throws(() => withSource(code, { from, publicKey: "" }), /it is not plain text$/);
  }
});
