import assert from "node:assert/strict";
import { diagnoseSandbox } from "../../../src/app/doctor/walls.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";

const ignore = Deno.build.os !== "linux";
const settings = (sandbox: Partial<typeof DEFAULT_CONFIG.sandbox>) => ({
  config: { ...DEFAULT_CONFIG, sandbox: { ...DEFAULT_CONFIG.sandbox, ...sandbox } },
});

Deno.test("diagnoseSandbox() tests the sandbox of the settings and each wall", { ignore }, async () => {
  const [sandbox, ...walls] = await diagnoseSandbox(settings({ memoryMiB: 256 }));
  assert.deepEqual(sandbox, {
    name: "sandbox",
    state: "ok",
    found: "starts, 256 MiB for each conversation",
    fix: "",
  });
  assert.deepEqual(
    walls.map(({ name }) => name),
    ["realm", "permissions", "process", "kernel"].map((it) => `wall: ${it}`),
  );
});

Deno.test("diagnoseSandbox() tests them behind sandbox.launcher", { ignore }, async () => {
  const folder = await Deno.makeTempDir();
  try {
    // Each child writes one line.
    const launcher = ["/bin/sh", "-c", `echo x >>${folder}/log; exec "$0" "$@"`];
    const [sandbox, ...walls] = await diagnoseSandbox(settings({ launcher }));
    assert.equal(sandbox?.state, "ok");
    assert.match(sandbox?.found ?? "", /, behind \/bin\/sh -c echo x /);
    assert.ok(walls.every(({ name, state }) => state === "ok" || name === "wall: kernel"), JSON.stringify(walls));
    assert.equal(await Deno.readTextFile(`${folder}/log`), "x\n".repeat(walls.length + 1));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("diagnoseSandbox() names a launcher that starts no sandbox", { ignore }, async () => {
  for (const launcher of [["/no/such/launcher"], ["/bin/sh", "-c", "echo 'no such image' >&2; exit 7"]]) {
    const [sandbox, ...walls] = await diagnoseSandbox(settings({ launcher }));
    assert.deepEqual([sandbox?.state, walls], ["fail", []]);
    assert.match(sandbox?.found ?? "", /no\/such\/launcher|no such image/);
    assert.match(sandbox?.fix ?? "", /sandbox\.launcher/);
  }
});
