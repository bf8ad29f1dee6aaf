import assert from "node:assert/strict";
import { join } from "node:path";
import { PERMISSIONS, V8_FLAGS } from "../../scripts/flags.ts";
import { ROOT } from "../../scripts/_project.ts";
import type { ChildProgram } from "../../src/sandbox/launch/start_child.ts";
import { until } from "../helpers/until.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { isNamed, killed, lives, longSleep } from "./lives.ts";

const PROGRAM = `
import { ProcessWall } from "./src/processes/process_wall.ts";
const [workspace, launcher, command] = Deno.args;
const wall = new ProcessWall({
  private: { home: null, visHome: null }, read: [], network: false, env: {}, ...JSON.parse(launcher),
});
const onOutput = (_, bytes) => Deno.stdout.writeSync(bytes);
await wall.spawn(workspace, ["/bin/sh", "-c", command], { loopback: "one", onOutput });
`;

/** Ways to stay behind; each ends with a sleep of its own. */
const STAYS: Readonly<Record<string, (sleep: string) => string>> = {
  "runs": (sleep) => `echo up; exec ${sleep}`,
  "has a session of its own": (sleep) => `setsid ${sleep} > /dev/null 2>&1 & echo up; wait`,
  "forks twice": (sleep) => `(setsid sh -c 'setsid ${sleep} > /dev/null 2>&1 &' &); sleep 0.1; echo up; exec sleep 60`,
  "ignores signals": (sleep) => `trap '' TERM HUP INT QUIT PIPE USR1; ${sleep} & echo up; wait`,
  "holds its outputs open for reading": (sleep) =>
    `exec 8< /proc/self/fd/2 9< /proc/self/fd/1; setsid ${sleep} & echo up; wait`,
};

/** Tests that nothing of a command is left once Vis is killed. */
export function killedVisSuite(
  { name, ignore, launcher }: {
    readonly name: string;
    readonly ignore: boolean;
    readonly launcher: () => Promise<ChildProgram | undefined>;
  },
): void {
  Object.entries(STAYS).forEach(([what, command], at) => {
    Deno.test(`a command ${name} that ${what} ends with Vis`, { ignore }, async () => {
      const program = await launcher();
      const sleep = longSleep(920 + at);
      await withFolder(async (workspace) => {
        const vis = new Deno.Command(Deno.execPath(), {
          args: [
            ...["run", "--quiet", "--no-prompt", "--no-lock", "--config", join(ROOT, "deno.json"), "--ext=ts"],
            ...[...PERMISSIONS, `--v8-flags=${V8_FLAGS.join(",")}`, "-", workspace],
            ...[JSON.stringify(program ? { launcher: program } : {}), command(sleep)],
          ],
          cwd: ROOT,
          stdin: "piped",
          stdout: "piped",
          stderr: "inherit",
        }).spawn();
        const writer = vis.stdin.getWriter();
        await writer.write(new TextEncoder().encode(PROGRAM));
        await writer.close();
        const reader = vis.stdout.getReader();
        const { value } = await reader.read();
        assert.equal(new TextDecoder().decode(value), "up\n");
        await until(() => lives(sleep));
        vis.kill("SIGKILL");
        await vis.status;
        await reader.cancel();
        try {
          await until(() => !isNamed(sleep)); // its shell may end after it
        } finally {
          assert.equal(killed(sleep), false);
        }
      });
    });
  });
}
