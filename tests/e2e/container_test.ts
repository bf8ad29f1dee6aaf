import assert from "node:assert/strict";
import { replyJson } from "../helpers/scripted_provider.ts";
import { compiledLauncher } from "./_launcher.ts";
import { librariesOf, type Podman, podman } from "./helpers/podman.ts";
import { User } from "./helpers/user.ts";

const launcher = await compiledLauncher();
const [program] = launcher.argv;

async function found(): Promise<Podman | string> {
  if (launcher.missing !== "") return launcher.missing;
  await launcher.ready();
  return await podman(librariesOf(program));
}

function settings({ launcher }: Podman): string {
  return JSON.stringify({ sandbox: { launcher, require: ["realm", "permissions", "process", "kernel"] } });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}

Deno.test("blocks run behind every wall in a container of their own", async (t) => {
  const containers = await found();
  const why = typeof containers === "string" ? ` (skipped: ${containers})` : "";
  const step = (name: string, fn: (containers: Podman) => Promise<void>) =>
    t.step({ name: `${name}${why}`, ignore: why !== "", fn: () => fn(containers as Podman) });
  await step("which ends with its query", async (containers) => {
    await using user = await User.make(launcher, {
      handler: () => replyJson("const sum = 3 + 4", { final: "It is {{sum}}" }),
    });
    await Deno.mkdir(user.path("vis"));
    await Deno.writeTextFile(user.path("vis/config.jsonc"), settings(containers));
    const ran = await user.run(["run", "What is 3 + 4?"]);
    assert.deepEqual([ran.code, ran.stdout.trim()], [0, "It is 7"], ran.stderr);
    await until(async () => (await containers.ids()).length === 0);
  });
  await step("which does not outlive a killed process", async (containers) => {
    await using user = await User.make(launcher, {
      handler: () => replyJson("await new Promise((go) => setTimeout(go, 60_000))", { final: "done" }),
    });
    await Deno.mkdir(user.path("vis"));
    await Deno.writeTextFile(user.path("vis/config.jsonc"), settings(containers));
    const running = user.start(["run", "wait"]);
    await running.until("container", async () => (await containers.ids()).length > 0);
    running.kill("SIGKILL");
    await running.over;
    await until(async () => (await containers.ids()).length === 0);
  });
  if (typeof containers !== "string") await containers[Symbol.asyncDispose]();
});
