import assert from "node:assert/strict";
import { join } from "node:path";
import { imageOf } from "../../scripts/release/packages/image.ts";
import { systemFiles } from "../../scripts/release/packages/system_files.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { compiledLauncher } from "./_launcher.ts";
import { loaded, type Podman, podman } from "./helpers/podman.ts";

const VERSION = "9.8.7", IMAGE = `localhost/vis-agent:${VERSION}`;
const target = "x86_64-unknown-linux-gnu";
const launcher = await compiledLauncher();
const system = launcher.missing === "" ? await systemFiles(target) : null;
const WALLS = ["wall: realm", "wall: permissions", "wall: process", "wall: kernel"];

async function found(folder: string): Promise<Podman | string> {
  if (launcher.missing !== "") return launcher.missing;
  if (system === null) return "no packages of Debian to make an image of";
  await launcher.ready();
  const program = await Deno.readFile(launcher.argv[0]);
  const parts = { target, version: VERSION, program, licences: new Uint8Array(), system };
  const { name, bytes } = imageOf({ ...parts, modifiedAt: 0, stored: true });
  await Deno.writeFile(join(folder, name), bytes);
  return await podman(loaded(join(folder, name), IMAGE));
}

interface Check {
  readonly name: string;
  readonly state: string;
}

/** Returns the options that docs/serve/deploy/README.md recommends, as the user of the image. */
function locked({ isolated }: Podman): readonly string[] {
  return isolated.filter((option) => !/^--(?:rm|user)/.test(option));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}

Deno.test("the container image of a release, in a storage folder of its own,", (t) =>
  withFolder(async (folder) => {
    const containers = await found(folder);
    const why = typeof containers === "string" ? ` (skipped: ${containers})` : "";
    const step = (name: string, fn: (containers: Podman) => Promise<void>) =>
      t.step({ name: `${name}${why}`, ignore: why !== "", fn: () => fn(containers as Podman) });
    const run = async (podman: Podman, args: readonly string[], options: readonly string[] = []) =>
      await podman.ran(["run", "--rm", ...locked(podman), ...options, IMAGE, ...args]);

    await step("runs the demo without root, rights, a network or files that can be written", async (containers) => {
      const { code, out, err } = await run(containers, ["demo"]);
      assert.equal(code, 0, err);
      assert.match(out, /TODO is mentioned 4 times in 3 files/);
    });
    await step("has every wall of the sandbox", async (containers) => {
      const { out, err } = await run(containers, ["doctor", "--json"]);
      const checks: readonly Check[] = JSON.parse(out);
      const states = checks.filter(({ name }) => WALLS.includes(name)).map(({ name, state }) => `${name} ${state}`);
      assert.deepEqual(states, WALLS.map((name) => `${name} ok`), err);
    });
    await step("keeps conversations in its volume", async (containers) => {
      const volume = ["--volume=vis-data:/var/lib/vis"];
      const asked = await run(containers, ["run", "--provider", "demo", "Which files mention TODO?"], volume);
      assert.equal(asked.code, 0, asked.err);
      const listed = await run(containers, ["conversations", "list"], volume);
      assert.match(listed.out, /Which files mention TODO/);
    });
    await step("serves as its health check expects, and ends on SIGTERM", async (containers) => {
      const { ran } = containers;
      const down = await run(containers, ["serve", "--check"]);
      assert.deepEqual([down.code, down.err], [
        1,
        "vis · Cannot use http://127.0.0.1:7357/: no server responds there\n",
      ]);
      const env = ["--env=VIS_TOKEN=token-of-this-test", "--env=VIS_PROVIDER=demo"];
      const started = await ran([
        ...["run", "--detach", "--name=server", ...locked(containers), ...env, IMAGE],
      ]);
      assert.equal(started.code, 0, started.err);
      await until(async () => (await ran(["healthcheck", "run", "server"])).code === 0);
      const { out } = await ran(["logs", "server"]);
      assert.equal(out, "http://localhost:7357/\n");
      assert.equal((await ran(["stop", "--time=60", "server"])).code, 0);
      assert.equal((await ran(["inspect", "--format={{.State.ExitCode}}", "server"])).out, "0\n");
    });
    if (typeof containers !== "string") {
      await containers.ran(["rm", "--all", "--force"]);
      await containers[Symbol.asyncDispose]();
    }
  }));
