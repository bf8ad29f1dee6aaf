import assert from "node:assert/strict";
import { join } from "node:path";
import { until } from "../helpers/until.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { isNamed, killed, lives, longSleep } from "./lives.ts";
import { giveTo, mayMake, OWNER } from "./_place.ts";
import { wallProcess } from "./_wall_process.ts";

const CODE = `
const [workspace, command] = Deno.args;
const onOutput = (_, bytes) => Deno.stdout.writeSync(bytes);
await wall.spawn(workspace, ["/bin/sh", "-c", command], { loopback: "one", onOutput });
`;

/** The ways to stay behind, each of which ends with its own sleep. */
const STAYS: Readonly<Record<string, (sleep: string) => string>> = {
  "runs": (sleep) => `echo up; exec ${sleep}`,
  "has a session of its own": (sleep) => `setsid ${sleep} > /dev/null 2>&1 & echo up; wait`,
  "forks twice": (sleep) => `(setsid sh -c 'setsid ${sleep} > /dev/null 2>&1 &' &); sleep 0.1; echo up; exec sleep 60`,
  "ignores signals": (sleep) => `trap '' TERM HUP INT QUIT PIPE USR1; ${sleep} & echo up; wait`,
  "holds its outputs open for reading": (sleep) =>
    `exec 8< /proc/self/fd/2 9< /proc/self/fd/1; setsid ${sleep} & echo up; wait`,
};

Object.entries(STAYS).forEach(([what, command], at) => {
  // The pipes of the outputs belong to root, and no other user can open them.
  const owners = OWNER === null || what.startsWith("holds its outputs") ? [null] : [null, OWNER];
  for (const owner of owners) {
    const who = owner === null ? "a command" : "a command with the id of a workspace's owner";
    Deno.test(`${who} that ${what} ends with Vis`, { ignore: !mayMake }, async () => {
      const sleep = longSleep(940 + 2 * at + (owner === null ? 0 : 1));
      await withFolder(async (folder) => {
        const workspace = join(folder, "workspace");
        await Deno.mkdir(workspace);
        if (owner !== null) await giveTo(owner, folder);
        // A later start of Vis removes no folder that belongs to another user.
        const vis = await wallProcess(CODE, [workspace, command(sleep)], { env: { TMPDIR: folder } });
        const reader = vis.stdout.getReader();
        const { value } = await reader.read();
        assert.equal(new TextDecoder().decode(value), "up\n");
        await until(() => lives(sleep));
        vis.kill("SIGKILL");
        await Promise.all([vis.status, vis.stderr.cancel()]);
        await reader.cancel();
        try {
          await until(() => !isNamed(sleep)); // The shell of the sleep may end after it.
        } finally {
          assert.equal(killed(sleep), false);
        }
      });
    });
  }
});
