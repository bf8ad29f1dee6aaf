import assert from "node:assert/strict";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import type { UpdateRequest } from "../../../../src/domain/admin_reports.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const VERSION = { vis: "1.2.0", deno: "", v8: "", compiled: true, target: "test" };

async function ran(args: readonly string[], update: (request: UpdateRequest) => { path: string; kept: string } | null) {
  const io = fakeIo({ args: ["update", ...args] });
  const services = fakeServices({ version: VERSION, update: (request) => Promise.resolve(update(request)) });
  return { code: await runCli(services, io), out: io.out };
}

Deno.test("vis update shows the new version, and the place of the executables", async () => {
  const found = await ran(["--from", "/release", "--key", "RW", "--force"], ({ from, key, check, force, onFound }) => {
    assert.deepEqual({ from, key, check, force }, { from: "/release", key: "RW", check: false, force: true });
    onFound({ version: "1.3.0", age: "newer", changes: "## 1.3.0\n\n- Red: \u001b[31m" });
    return { path: "/bin/vis", kept: "/bin/vis.old" };
  });
  assert.deepEqual(found, {
    code: 0,
    out: "This is vis 1.2.0; vis 1.3.0 is new.\n\n## 1.3.0\n\n- Red: \\u001b[31m\n\n" +
      "Installed /bin/vis; the previous one is kept as /bin/vis.old\n",
  });
});

Deno.test("vis update --check reports that no newer version exists", async () => {
  const told = async (age: "same" | "older") =>
    (await ran(["--check"], ({ check, onFound }) => {
      assert.ok(check);
      onFound({ version: "1.1.0", age, changes: "" });
      return null;
    })).out;
  assert.equal(await told("same"), "This is vis 1.2.0, and the release is the same version.\n");
  assert.equal(await told("older"), "This is vis 1.2.0; the release is vis 1.1.0, which is older.\n");
});

Deno.test("vis update --json prints the release and the installed files", async () => {
  const release = { version: "1.3.0", age: "newer" as const, changes: "## 1.3.0" };
  const checked = await ran(["--check", "--json"], ({ onFound }) => {
    onFound(release);
    return null;
  });
  assert.deepEqual(JSON.parse(checked.out), { current: "1.2.0", compiled: true, release, installed: null });
  const io = fakeIo({ args: ["update", "--json"] });
  assert.equal(await runCli(fakeServices(), io), 0);
  assert.equal(JSON.parse(io.out).compiled, false);
});

Deno.test("vis update from source explains that it updates only the executable", async () => {
  const io = fakeIo({ args: ["upgrade"] });
  assert.equal(await runCli(fakeServices(), io), 0);
  assert.match(io.out, /run from source; vis update replaces only the executable/);
});
