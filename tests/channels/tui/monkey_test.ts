import assert from "node:assert/strict";
import type { ProviderAdmin } from "../../../src/channels/channel.ts";
import { fakeConfig } from "./_fake_config.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

/** The keys that leave the screen are omitted: Ctrl-D, Ctrl-Z, and two Ctrl-C. */
const KEYS = [
  ...["\r", "\x1b\r", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\t", "\x7f"],
  ...[
    "\x0b",
    "?",
    "\x1bi",
    "\x0f",
    "\x14",
    "\x1bt",
    "\x19",
    "\x0c",
    "\x1b[1;5H",
    "\x1b[1;5F",
    "\x1b[1;2A",
    "\x1b[1;2B",
    "\x15",
    "\x17",
  ],
  ...["a", "日", "😀", "/", " ", "word", "/help\r", "/vars\r", "/conversations\r", "/fork\r", "/settings\r", "/new\r"],
  ...["\x1b[<64;5;5M", "\x1b[<65;5;5M", "\x1b[<0;3;3M\x1b[<0;3;3m", "\x1b[<0;2;2M\x1b[<32;9;4M\x1b[<0;9;4m"],
  ...["\x1b[200~pasted\ntext\x1b[201~", `\x1b[200~${"x\n".repeat(40)}\x1b[201~`, "\x1b[O", "\x1b[I", "\x1b[?62;4c"],
  ...["\x1b", "\x1b", "\x1b[27u", "\x1b[97;1:3u", "\x1b]11;rgb:ffff/ffff/ffff\x07", "\x1b[999~", "\x00", "\x1bO"],
  ...["\x1br", "/retry\r", "@none.png ", "\x1b[200~/none/none.png\x1b[201~", "\x1b[200~@none.png\x1b[201~", "\x1b[3~"],
];
const STEPS = 400;

function numbers(seed: number): (below: number) => number {
  const held = { state: seed };
  return (below) => {
    held.state = (Math.imul(held.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(held.state / 2 ** 32 * below);
  };
}

const providers = (): Promise<ProviderAdmin> => Promise.reject(new Error("Cannot ask: no provider here"));
const config = () => Promise.resolve(fakeConfig(() => {}));

for (const seed of [1, 2, 17]) {
  Deno.test(`any keys and any terminal size leave the screen working (${seed})`, async () => {
    const otherwise = replyJson("[1, 2, 3]", { final: "Monkey: answered", thinking: "Thought." });
    const engine = { scripted: { otherwise } };
    await withScreen([], { engine, parts: { providers, config } }, async ({ screen, code, prefs }) => {
      const ended = code.then(() => "left", (error: unknown) => error);
      const below = numbers(seed);
      for (let step = 0; step < STEPS; step++) {
        if (below(12) === 0) screen.resize(1 + below(120), 1 + below(40));
        else screen.type(KEYS[below(KEYS.length)] ?? "");
        if (below(6) === 0) await new Promise((resolve) => setTimeout(resolve, below(4)));
      }
      screen.resize(80, 24);
      for (let n = 0; n < 3; n++) {
        screen.type("\x1b");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      assert.equal(await Promise.race([ended, Promise.resolve("stands")]), "stands");
      await prefs.set({ vim: false }); // The settings may have turned it on.
      screen.type("\x15");
      screen.type("still here");
      await screen.until("still here");
    });
  });
}
