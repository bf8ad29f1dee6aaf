import assert from "node:assert/strict";
import { join } from "node:path";
import { TARGETS } from "../../scripts/_targets.ts";
import { baseRuntimeFor } from "../../scripts/base_runtime_for.ts";
import { compileArguments, compileFailure } from "../../scripts/compile.ts";
import { executableTarget } from "../../scripts/executable_target.ts";
import { withFolder } from "../helpers/with_folder.ts";

function headOf(target: string): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(512);
  const view = new DataView(head.buffer);
  const arm = target.startsWith("aarch64");
  if (target.includes("linux")) {
    view.setUint32(0, 0x7f454c46);
    view.setUint16(18, arm ? 0xb7 : 0x3e, true);
  } else if (target.includes("darwin")) {
    view.setUint32(0, 0xfeedfacf, true);
    view.setUint32(4, arm ? 0x0100000c : 0x01000007, true);
  } else {
    view.setUint16(0, 0x4d5a);
    view.setUint32(60, 128, true);
    view.setUint32(128, 0x50450000);
    view.setUint16(132, 0x8664, true);
  }
  return head;
}

Deno.test("executableTarget() distinguishes the platforms of releases, and other files", () => {
  for (const target of TARGETS) assert.equal(executableTarget(headOf(target)), target);
  for (const other of [new Uint8Array(), new TextEncoder().encode("#!/bin/sh\n".repeat(20)), new Uint8Array(512)]) {
    assert.equal(executableTarget(other), null);
  }
  const far = headOf("x86_64-pc-windows-msvc");
  new DataView(far.buffer).setUint32(60, 0xffffff, true);
  assert.equal(executableTarget(far), null);
});

Deno.test("executableTarget() knows this Deno", async () => {
  using file = await Deno.open(Deno.execPath());
  const head = new Uint8Array(4096);
  await file.read(head);
  assert.equal(executableTarget(head), Deno.build.target);
});

Deno.test("baseRuntimeFor() finds the runtime of each target, and refuses a missing one or another target's", () =>
  withFolder(async (folder) => {
    for (const target of TARGETS) {
      const path = join(folder, `denort-${target}${target.includes("windows") ? ".exe" : ""}`);
      await Deno.writeFile(path, headOf(target));
      assert.equal(await baseRuntimeFor(target, { DENORT_DIR: folder, DENORT_BIN: "/other" }), path);
      assert.equal(await baseRuntimeFor(target, { DENORT_BIN: path }), path);
      assert.equal(await baseRuntimeFor(target, {}), null);
    }
    const [linux = "", arm = ""] = TARGETS;
    const refused = (env: Record<string, string>, message: RegExp) =>
      assert.rejects(baseRuntimeFor(linux, env), { message });
    await refused(
      { DENORT_BIN: join(folder, `denort-${arm}`) },
      /DENORT_BIN names .*, which is one for aarch64-unknown-linux-gnu/,
    );
    await refused({ DENORT_BIN: join(folder, "none") }, /^Cannot compile for x86_64-unk.*none, which does not exist$/);
    await refused({ DENORT_DIR: join(folder, "none") }, /DENORT_DIR names .*, which does not exist$/);
    await Deno.writeTextFile(join(folder, "text"), "text");
    await refused({ DENORT_BIN: join(folder, "text") }, /which is no runtime of Deno$/);
  }));

Deno.test("compileArguments() names each target, and compileFailure() names the alternatives", () => {
  for (const target of TARGETS) {
    const args = compileArguments("/b", { target, output: "/o/vis" });
    assert.equal(args[args.indexOf("--target") + 1], target);
  }
  const said =
    "error: invalid value 'riscv' for '--target': possible values: x86_64-apple-darwin, aarch64-apple-darwin\n";
  const wanted =
    "Cannot compile for riscv: the target is unknown; choose one of x86_64-apple-darwin, aarch64-apple-darwin";
  assert.equal(compileFailure(said, "riscv"), wanted);
});
