/** Kills the program again and again, at requests, in replies and at random moments. Its conversation must be the same
 * as without a kill. `tests/faults` covers every step; this test runs the whole program. */
import assert from "node:assert/strict";
import type { Picture } from "../../../helpers/conversation_picture.ts";
import { STEPS } from "../../../helpers/kill_script.ts";
import type { Launcher } from "../../_launcher.ts";
import { type Kill, Player } from "../../helpers/player.ts";
import { launched } from "../../helpers/together.ts";

const odd = STEPS.flatMap((_, at) => at % 2 === 0 ? [at + 1] : []);
const even = odd.map((step) => step + 1);

const CHAINS: Readonly<Record<string, readonly Kill[]>> = {
  "in requests and replies": [
    ...odd.map((step): Kill => ({ step, at: "request" })),
    ...even.map((step): Kill => ({ step, at: "half", below: step % 4 === 0 })),
    { step: 7, at: "child request" } as const,
  ].toSorted((a, b) => a.step - b.step),
  // The block is sent, runs and is stored. The kill is at some moment of that, or later.
  "after replies, half of them the sandbox too": STEPS.map((_, at): Kill => (
    { step: at + 1, at: { afterMs: [0, 25, 4, 40, 9, 60, 16][at % 7] ?? 0 }, below: at % 2 === 1 }
  )),
};

export function killSuite(launcher: Launcher): void {
  launched(launcher, "vis run -c after kills anywhere equals a conversation without", async (t) => {
    let whole: Picture | null = null;
    await Player.with(launcher, async (player) => {
      await player.play(null);
      whole = await player.picture();
    });
    for (const [name, kills] of Object.entries(CHAINS)) {
      await t.step(`${kills.length} times ${name}`, async () => {
        await Player.with(launcher, async (player) => {
          let killed = 0;
          for (const kill of kills) if (await player.play(kill)) killed++;
          // A kill that arrives late can replace later ones.
          const least = kills.every(({ at }) => typeof at === "string") ? kills.length : kills.length / 2;
          assert.ok(killed >= least, `${killed} of ${kills.length} kills`);
          await player.play(null);
          assert.deepEqual(await player.picture(), whole);
        });
      });
    }
  });
}
