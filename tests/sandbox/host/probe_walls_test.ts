import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { probeTargets, probeWalls } from "../../../src/sandbox/host/probe_walls.ts";

const ignore = Deno.build.os !== "linux";

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("probeWalls() leaves nothing behind", { ignore }, () =>
  withFolder(async (folderRoot) => {
    const probes = await probeWalls({ folderRoot });
    assert.deepEqual(probes.map(({ wall }) => wall), ["realm", "permissions", "process", "kernel"]);
  }));

Deno.test("probeWalls() that is given up ends its children and leaves nothing behind", { ignore }, async () => {
  for (const afterMs of [null, 0, 30]) {
    await withFolder(async (folderRoot) => {
      const controller = new AbortController();
      if (afterMs === null) controller.abort(new Error("given up"));
      const probing = probeWalls({ folderRoot, signal: controller.signal });
      const timer = setTimeout(() => controller.abort(new Error("given up")), afterMs ?? 0);
      await assert.rejects(probing, /given up/);
      clearTimeout(timer);
    });
  }
});

Deno.test(
  "probeWalls() leaves nothing behind where one of its children does not start",
  { ignore },
  () =>
    withFolder(async (folderRoot) => {
      await assert.rejects(probeWalls({ folderRoot, launcher: ["/bin/false"] }), /Sandbox ended/);
    }),
);

Deno.test("probeWalls() finds the access that a launcher permits", { ignore }, () =>
  withFolder(async (folderRoot) => {
    const launcher = ["/bin/sh", "-c", 'export VIS_API_KEY=secret; exec "$0" "$@"'];
    const process = (await probeWalls({ folderRoot, launcher })).find(({ wall }) => wall === "process");
    assert.equal(process?.holds, false);
    assert.match(process?.found.text ?? "", /got through: .*see the environment/);
  }));

/** An ordinary user must give up new privileges before it may confine itself. */
const PLAIN_USER = Deno.uid() === 0 ? ["/usr/bin/setpriv", "--bounding-set=-sys_admin"] : [];
const noSetpriv = PLAIN_USER[0] !== undefined && !existsSync(PLAIN_USER[0]);

Deno.test(
  "probeWalls() finds the wall of the kernel for an ordinary user too",
  { ignore: ignore || noSetpriv },
  () =>
    withFolder(async (folderRoot) => {
      const probes = await probeWalls({ folderRoot, launcher: PLAIN_USER });
      const own = await probeWalls({ folderRoot });
      assert.deepEqual(probes.map(({ holds }) => holds), own.map(({ holds }) => holds));
    }),
);

Deno.test("probeTargets() exist on this system, and elsewhere as that has them", () => {
  for (const [what, path] of Object.entries(probeTargets(Deno.build.os))) {
    assert.ok(existsSync(path), `${what}: ${path}`);
  }
  const having = (...paths: readonly string[]) => (path: string): boolean => paths.includes(path);
  const program = Deno.execPath();
  assert.equal(probeTargets("darwin", having("/usr/bin/true", program)).program, "/usr/bin/true");
  const image = probeTargets("linux", having(program));
  assert.deepEqual([image.file, image.program], [program, program]);
  assert.equal(probeTargets("windows", having("C:\\Windows\\win.ini")).file, "C:\\Windows\\win.ini");
  assert.equal(probeTargets("linux", () => false).program, "/bin/true", "which is then missing");
});

Deno.test(
  "probeWalls() counts no wall whose target does not exist",
  { ignore },
  () =>
    withFolder(async (folderRoot) => {
      const targets = { ...probeTargets("linux"), file: "/no/such/file" };
      const permissions = (await probeWalls({ folderRoot, targets })).find(({ wall }) => wall === "permissions");
      assert.equal(permissions?.holds, false);
      assert.equal(permissions?.found.text, `it tried nothing: ${targets.file} does not exist here`);
    }),
);
