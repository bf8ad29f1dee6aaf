import assert from "node:assert/strict";
import { join } from "node:path";
import { packRelease } from "../../scripts/release/pack.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { compiledLauncher } from "./_launcher.ts";

const HERE = "x86_64-unknown-linux-gnu";
const launcher = await compiledLauncher();

async function ran(command: string, args: readonly string[], home: string) {
  const env = { PATH: Deno.env.get("PATH") ?? "", HOME: home };
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd: home, clearEnv: true, env })
    .output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

const [npm, dpkg] = await Promise.all(
  ["npm", "dpkg-deb"].map(async (name) => (await ran("sh", ["-c", `command -v ${name}`], "/tmp")).code === 0),
);

Deno.test({
  name: "the archive, the npm packages and the Debian package install in a clean folder and run the demo",
  ignore: launcher.missing !== "" || Deno.build.target !== HERE || !npm || !dpkg,
  fn: async () => {
    await launcher.ready();
    await withFolder(async (home) => {
      const release = join(home, "release");
      const [path] = launcher.argv;
      const programs = [{ target: HERE, path }];
      await packRelease({ version: "9.8.7", programs, output: release, baseUrl: "", modifiedAt: 0, packages: [] });
      const npmPackages = ["vis-agent-linux-x64", "vis-agent"].map((name) => `${release}/${name}-9.8.7.tgz`);
      const steps: readonly (readonly [string, readonly string[]])[] = [
        ["tar", ["-xzf", `${release}/vis-9.8.7-${HERE}.tar.gz`]],
        ["npm", ["install", "--offline", "--prefix", "npm", ...npmPackages]],
        ["dpkg-deb", ["--extract", `${release}/vis-agent_9.8.7_amd64.deb`, "deb"]],
      ];
      for (const [command, args] of steps) {
        const { code, err } = await ran(command, args, home);
        assert.equal(code, 0, err);
      }
      for (const vis of ["vis-9.8.7/vis", "npm/node_modules/.bin/vis", "deb/usr/bin/vis"]) {
        const { code, out, err } = await ran(join(home, vis), ["demo"], home);
        assert.equal(code, 0, `${vis}: ${err}`);
        assert.match(out, /TODO is mentioned 4 times in 3 files/, vis);
      }
    });
  },
});
