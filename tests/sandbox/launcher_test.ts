import assert from "node:assert/strict";
import { SandboxEnded } from "../../src/domain/errors.ts";
import { sandboxSuite } from "../conformance/sandbox_suite.ts";
import { runs } from "../helpers/long_part.ts";
import { testSandbox } from "../helpers/sandbox.ts";

const missing = Deno.build.os === "linux" ? "" : "needs /proc and a shell";

const LAUNCHERS = {
  "a shell that stays the parent": ["/bin/sh", "-c", '"$0" "$@"; exit $?'],
  "no launcher": [],
  "a shell that becomes the child": ["/bin/sh", "-c", 'exec "$0" "$@"'],
};
for (const [name, launcher] of Object.entries(LAUNCHERS).slice(0, runs(2, 3))) {
  sandboxSuite({ name, launcher, missing });
}

Deno.test("a launcher that starts no child is reported", { ignore: missing !== "" }, async () => {
  const failing = testSandbox({ launcher: ["/bin/sh", "-c", "echo 'no such container' >&2; exit 7"] });
  await assert.rejects(failing, (error) => {
    assert.ok(error instanceof SandboxEnded);
    assert.match(error.message, /exit code 7 \(no such container\)/);
    return true;
  });
  await assert.rejects(
    testSandbox({ launcher: ["/bin/echo", "Welcome to the machine"] }),
    /it sent a wrong message \(cannot read a frame/,
  );
});

Deno.test("a launcher that is not there is an error that names it", async () => {
  const root = Deno.makeTempDirSync();
  try {
    const open = testSandbox({ launcher: ["/no/such/launcher"], test: { folderRoot: root } });
    await assert.rejects(open, /\/no\/such\/launcher/);
    assert.deepEqual([...Deno.readDirSync(root)], []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
