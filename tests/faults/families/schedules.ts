import type { Launcher } from "../../e2e/_launcher.ts";
import type { Family } from "./family.ts";
import { Schedule, type ScheduleOptions } from "../world/schedule.ts";
import type { Trial } from "../world/trial.ts";
import { type TurnName, TURNS } from "../world/turns.ts";
import { World } from "../world/world.ts";

const LENGTH = 20;
const QUICK_LENGTH = 8;
const WEIGHTS = {
  ...{ plain: 4, killed: 3, cancelled: 2, left: 1, beside: 3, "at once": 3, stopped: 2 },
  ...{ fork: 2, retry: 2, restart: 1 },
};

/** Runs `vis run` and one or two servers on one database, in turn and at once, by a schedule that the seed
 * determines. */
export const schedules: Family = {
  name: "schedules",
  what: "20 requests of commands and servers on one database, in turn and at the same time, with kills and restarts",
  tries: { full: 60, quick: 1 },
  missing: () => Promise.resolve(""),
  attempt: (trial, launcher) => {
    const servers = 1 + trial.random.below(2);
    return playSchedule(trial, { launcher, turns: trial.quick ? QUICK_LENGTH : LENGTH, servers, weights: WEIGHTS });
  },
};

export async function playSchedule(
  trial: Trial,
  { launcher, turns, weights, ...options }: ScheduleOptions & {
    readonly launcher: Launcher;
    readonly turns: number;
    readonly weights: Readonly<Partial<Record<TurnName, number>>>;
  },
): Promise<void> {
  await using world = await World.make(trial, launcher);
  const schedule = await Schedule.begin(world, options);
  const kinds = Object.entries(weights).flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  for (let turn = 1; turn <= turns; turn++) {
    const name = trial.random.pick(kinds);
    const { branch } = schedule;
    trial.note(`${turn}. ${name} in ${branch.id.slice(-6)}`);
    schedule.nextGroup();
    await TURNS[name as TurnName](schedule, branch);
    await schedule.check(branch);
  }
  await schedule.end();
}
