import { descendants } from "../../e2e/helpers/processes.ts";
import type { Launcher } from "../../e2e/_launcher.ts";
import { type Kill, Player } from "../../e2e/helpers/player.ts";
import type { Picture } from "../../helpers/conversation_picture.ts";
import { STEPS } from "../../helpers/kill_script.ts";
import { checkAnswered } from "../world/check_answered.ts";
import type { Family } from "./family.ts";
import { comparePictures } from "../world/compare_pictures.ts";
import { playSchedule } from "./schedules.ts";
import { requestOf } from "../world/token_model.ts";
import type { Trial } from "../world/trial.ts";
import { signalTo, World } from "../world/world.ts";

type Attempt = (trial: Trial, launcher: Launcher) => Promise<void>;

const KINDS: readonly Attempt[] = [
  (trial, launcher) => script(trial, { launcher, below: false }),
  (trial, launcher) => script(trial, { launcher, below: true }),
  child,
  (trial, launcher) => {
    const turns = trial.quick ? 2 : 8;
    return playSchedule(trial, { launcher, turns, servers: 1, commands: false, weights: { killed: 3, plain: 1 } });
  },
];

export const kills: Family = {
  name: "kills",
  what: "SIGKILL at random moments, to the program, its sandbox, both, or a server",
  tries: { full: 60, quick: 4 },
  missing: () => Promise.resolve(""),
  attempt: async (trial, launcher) => await KINDS[trial.seed % KINDS.length]?.(trial, launcher),
};

const wholes = new Map<string, Promise<Picture>>();

async function whole(launcher: Launcher): Promise<Picture> {
  let picture: Picture | null = null;
  await Player.with(launcher, async (player) => {
    await player.play(null);
    picture = await player.picture();
  });
  if (!picture) throw new Error("The conversation has no picture");
  return picture;
}

/** Kills a conversation of 12 iterations at random steps. It has everything that a kill may interrupt. */
async function script(
  trial: Trial,
  { launcher, below }: { readonly launcher: Launcher; readonly below: boolean },
): Promise<void> {
  const known = wholes.get(launcher.name) ?? whole(launcher);
  wholes.set(launcher.name, known);
  const expected = await known;
  await Player.with(launcher, async (player) => {
    for (const kill of killsOf(trial, below)) {
      trial.note(`SIGKILL ${JSON.stringify(kill)}`);
      if (await trial.within("vis run -c", player.play(kill))) trial.faults++;
    }
    await trial.within("vis run -c", player.play(null));
    for (const { word, what } of comparePictures(expected, await player.picture())) trial.found(word, what);
  });
}

function killsOf({ random, quick }: Trial, below: boolean): readonly Kill[] {
  const steps = STEPS.map((_, at) => at + 1).filter(() => random.chance(quick ? 0.15 : 0.6));
  return steps.map((step) => {
    const at = random.pick<Kill["at"]>(["request", "half", ...Array(4).fill({ afterMs: random.below(100) })]);
    return { step, at: step === 7 && random.chance(0.5) ? "child request" : at, below };
  });
}

const PARTS = 10;

/** Kills only the sandbox, while its blocks run and between them. */
async function child(trial: Trial, launcher: Launcher): Promise<void> {
  await using world = await World.make(trial, launcher);
  world.model.extra = () => "await new Promise((resolve) => setTimeout(resolve, 20))";
  const token = world.token();
  const struck = new Set(Array.from({ length: PARTS }, (_, n) => n + 1).filter(() => trial.random.chance(0.5)));
  const running = world.start(["run", "--json", "--max-iterations", "40", requestOf(token, PARTS)]);
  for (const part of struck) {
    const afterMs = trial.random.below(60);
    const meeting = world.model.meet(token, part);
    void meeting.asked.then(() => {
      meeting.release();
      setTimeout(() => {
        const below = descendants(running.pid);
        trial.note(`SIGKILL of ${below.length} processes below, ${afterMs} ms after the reply of part ${part}`);
        trial.faults += below.filter(({ pid }) => signalTo(pid, "SIGKILL")).length;
      }, afterMs);
    });
  }
  const ran = await world.over(running, "vis run");
  await checkAnswered(world, { ran, token, parts: PARTS });
}
