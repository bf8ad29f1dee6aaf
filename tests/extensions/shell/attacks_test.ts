import assert from "node:assert/strict";
import { jobsOf, start } from "../../../extensions/shell/jobs.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { until } from "../../helpers/until.ts";
import { ATTACKS } from "../../processes/_attacks.ts";
import { missing, type Place, place } from "../../processes/_place.ts";
import { lives, longSleep } from "../../processes/lives.ts";

const ignore = missing !== "";

function viewOf({ wall, workspace }: Place, envId: string): EnvironmentView {
  return {
    envId,
    conversationId: "c",
    branchId: "b",
    depth: 0,
    workspace,
    spawn: (argv, options = {}) => wall.spawn(workspace, argv, options),
  };
}

/** The tests of `shell.run` try all attacks on the same wall. These test running commands, with one attack of each
 * kind. */
const CHOSEN =
  /stays|hook|names a command|another repository|\.vis|terminal|^signals|home folder|environment|unix socket$|service|outside$/;

for (const attack of ATTACKS.filter(({ name, allowedIn }) => CHOSEN.test(name) && !allowedIn.includes("private"))) {
  Deno.test(`shell.start(): a command that ${attack.name} does not`, { ignore }, async () => {
    await place(async (there) => {
      const env = viewOf(there, attack.name);
      const { id, output } = await start(env, `exec 2> /dev/null; ${attack.command(there)}`, {
        waitMs: 20_000,
        until: "never said",
      });
      const [job] = jobsOf(env).all;
      assert.deepEqual([job?.id, job?.running], [id, false]);
      const outcome = { code: job?.brief.code ?? 0, stdout: output };
      assert.equal(attack.got(outcome, there), false, JSON.stringify(outcome));
    });
  });
}

const SLEEP = longSleep(908);
Deno.test("shell.stop() ends all processes of a command, whatever it did to keep them", { ignore }, async () => {
  const stays = [
    `${SLEEP} & ${SLEEP}`,
    `trap '' TERM HUP; setsid ${SLEEP} & while :; do sleep 0.05; done`,
    `(setsid sh -c 'setsid ${SLEEP} &' &); while :; do sleep 0.05; done`,
    `setsid sh -c 'ulimit -q 1; exec ${SLEEP}' & exec ${SLEEP}`,
  ];
  for (const command of stays) {
    await place(async (there) => {
      const env = viewOf(there, "stays");
      const { id, running } = await start(env, `echo on; ${command}`, { waitMs: 20_000 });
      assert.ok(running);
      await until(() => lives(SLEEP));
      const report = await jobsOf(env).stop(id);
      assert.equal(report.running, false);
      assert.equal(lives(SLEEP), false, command);
    });
  }
});

Deno.test("shell.start() keeps little of a flood, and the command continues", { ignore }, async () => {
  await place(async (there) => {
    const env = viewOf(there, "flood");
    const bytes = 40_000_000;
    const flood = `head -c ${bytes} /dev/zero; echo; echo over; sleep 300`;
    const first = await start(env, flood, { waitMs: 30_000, until: "over" });
    const reports = [first];
    for (let last = first; last.left > 0; reports.push(last)) last = await jobsOf(env).read(first.id, {});
    const output = reports.map((report) => report.output).join("");
    assert.ok(output.endsWith("\nover\n") && reports.at(-1)?.running);
    assert.ok(output.length <= 256 * 1024, `${output.length} bytes were kept`);
    const missed = reports.reduce((sum, report) => sum + report.missed, 0);
    assert.equal(missed + output.length, bytes + "\nover\n".length);
    await jobsOf(env).stop(first.id);
  });
});
