import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import project from "../../deno.json" with { type: "json" };
import { packRelease } from "../../scripts/release/pack.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { compiledLauncher } from "./_launcher.ts";

const { version } = project;
const HERE = "x86_64-unknown-linux-gnu";
const launcher = await compiledLauncher();

async function ran(command: string, args: readonly string[], home: string) {
  const env = { PATH: Deno.env.get("PATH") ?? "", HOME: home, TMPDIR: home };
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd: home, clearEnv: true, env })
    .output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

const [npm, dpkg, ruby] = await Promise.all(
  ["npm", "dpkg-deb", "ruby"].map(async (name) => (await ran("sh", ["-c", `command -v ${name}`], "/tmp")).code === 0),
);
const FORMULA = fileURLToPath(new URL("helpers/formula.rb", import.meta.url));
const about = ruby ? "" : " (the formula skipped: no ruby)";

Deno.test({
  name: `the archive, the packages and the formula install in a clean folder and run the demo${about}`,
  ignore: launcher.missing !== "" || Deno.build.target !== HERE || !npm || !dpkg,
  fn: async () => {
    await launcher.ready();
    await withFolder(async (home) => {
      const release = join(home, "release");
      const [path] = launcher.argv;
      const programs = [{ target: HERE, path }];
      const made = { modifiedAt: 0, stored: true, packages: [] };
      await packRelease({ version, programs, output: release, baseUrl: `file://${release}`, ...made });
      const npmPackages = ["vis-agent-linux-x64", "vis-agent"].map((name) => `${release}/${name}-${version}.tgz`);
      const steps: readonly (readonly [string, readonly string[]])[] = [
        ["tar", ["-xzf", `${release}/vis-${version}-${HERE}.tar.gz`]],
        ["npm", ["install", "--offline", "--prefix", "npm", ...npmPackages]],
        ["dpkg-deb", ["--extract", `${release}/vis-agent_${version}_amd64.deb`, "deb"]],
        ...ruby ? [["ruby", [FORMULA, `${release}/vis-agent.rb`, `${home}/brew`, "linux", "intel"]] as const] : [],
      ];
      for (const [command, args] of steps) {
        const { code, err } = await ran(command, args, home);
        assert.equal(code, 0, err);
      }
      for (
        const vis of [
          `vis-${version}/vis`,
          "npm/node_modules/.bin/vis",
          "deb/usr/bin/vis",
          ...ruby ? ["brew/bin/vis"] : [],
        ]
      ) {
        const { code, out, err } = await ran(join(home, vis), ["demo"], home);
        assert.equal(code, 0, `${vis}: ${err}`);
        assert.match(out, /TODO is mentioned 4 times in 3 files/, vis);
      }
    });
  },
});
