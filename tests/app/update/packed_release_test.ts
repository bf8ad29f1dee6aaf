import assert from "node:assert/strict";
import { join } from "node:path";
import { publicKeyOf } from "../../../scripts/release/minisign.ts";
import { packRelease } from "../../../scripts/release/pack.ts";
import { ConfigError } from "../../../src/domain/errors.ts";
import { update } from "../../../src/app/update/update.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { KEY } from "./_release.ts";

const TARGETS = ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc"];
const PACKAGES = [{ name: "part", version: "1.2.3", licence: "MIT", texts: ["Permission is granted."] }];

async function updated(
  program: string,
  options: { from?: string; target?: string; check?: boolean; container?: boolean },
) {
  const version = { vis: "1.2.0", deno: "", v8: "", compiled: true, target: options.target ?? "test" };
  const signal = new AbortController().signal;
  return await update(
    {
      key: publicKeyOf(KEY),
      check: options.check ?? false,
      force: false,
      signal,
      onFound: () => {},
      from: options.from,
    },
    { version, config: { update: { from: null, publicKey: null } }, program, container: options.container ?? false },
  );
}

async function withPacked(work: (release: string, folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "program"), release = join(folder, "release");
    await Deno.writeTextFile(path, "#!/bin/sh\necho vis 9.8.7\n");
    await packRelease({
      ...{ version: "9.8.7", programs: TARGETS.map((target) => ({ target, path })), output: release, baseUrl: "" },
      ...{ modifiedAt: 1_000_000_000_000, packages: PACKAGES, key: KEY },
    });
    await work(release, folder);
  });
}

Deno.test({
  name: "update() installs the output of packRelease(), from either kind of archive",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withPacked(async (release, folder) => {
      for (const target of TARGETS) {
        const program = join(folder, target);
        await Deno.writeTextFile(program, "before");
        assert.deepEqual(await updated(program, { from: release, target }), { path: program, kept: `${program}.old` });
        assert.match(await Deno.readTextFile(program), /9\.8\.7/);
      }
    }),
});

Deno.test("update() leaves an executable to the package manager that installed it, and names the command", () =>
  withPacked(async (from, folder) => {
    const program = join(folder, "node_modules/vis");
    const refusal = (why: RegExp) => (error: unknown) => error instanceof ConfigError && why.test(error.message);
    await assert.rejects(
      updated(program, { from }),
      refusal(/: npm installed it; run npm install --global vis-agent@latest$/),
    );
    await assert.rejects(
      updated(program, {}),
      refusal(/no address of releases is set; run npm install .*, because npm installed this executable/),
    );
    assert.equal(await updated(program, { from, check: true }), null);
  }));

Deno.test("update() knows package managers by the path", async () => {
  const found = async (program: string, container = false): Promise<string | undefined> => {
    const error = await updated(program, { container }).catch((error: unknown) => error);
    return /because ([\w ]+) installed this executable/.exec(error instanceof ConfigError ? error.advice : "")?.[1];
  };
  assert.equal(await found("/usr/lib/node_modules/vis-agent-linux-x64/vis"), "npm");
  assert.equal(await found(String.raw`C:\npm\node_modules\vis-agent-win32-x64\vis.exe`), "npm");
  assert.equal(await found("/opt/homebrew/Cellar/vis-agent/1.2.0/bin/vis"), "Homebrew");
  assert.equal(await found("/usr/bin/vis"), "a package");
  assert.equal(await found("/usr/bin/vis", true), "a container image");
  assert.equal(await found("/usr/local/bin/vis", true), "a container image");
  assert.equal(await found("/usr/local/bin/vis"), undefined);
  assert.equal(await found("/home/user/.local/bin/vis", true), undefined);
});
