import assert from "node:assert/strict";
import rlm from "../../../extensions/rlm/mod.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { final, replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { type RigOptions, type ScreenRig, withScreen } from "./_rig.ts";

const ENTER = "\r";
const ESC = "\x1b";
const DOWN = "\x1b[B";
const PAGE_DOWN = "\x1b[6~";
const CTRL_C = "\x03";
const CTRL_G = "\x07";
const CTRL_K = "\x0b";
const DONE = "That: is all";

/** Sends a request whose first block is this code. */
async function asks(
  code: string,
  work: (rig: ScreenRig) => Promise<void>,
  { replies = [final(DONE)], ...options }: RigOptions & { readonly replies?: readonly ScriptedReply[] } = {},
): Promise<void> {
  const all = { ...options, engine: { extensions: [ASKING, rlm], ...options.engine } };
  await withScreen([replyJson([code]), ...replies], all, async (rig) => {
    rig.screen.type(`Go${ENTER}`);
    await rig.screen.until("Vis asks");
    await work(rig);
  });
}

/** Whether the question waits, not asked for the keyboard again. */
function waits({ screen }: ScreenRig): boolean {
  return screen.screen().includes("Vis asks");
}

Deno.test("a question is shown with its choices, and its letters answer it after Ctrl-G", async () => {
  for (
    const [key, text] of [["y", "yes, this time"], ["c", "in this conversation"], ["a", "from now on"], ["n", "no"]]
  ) {
    await asks("(await asking.open()).allowed", async ({ screen }) => {
      const shown = await screen.until("waiting for your answer (Ctrl-G)");
      assert.match(shown, /Allow Vis to open doors\?[^]*It is locked\.[^]*y {2}yes, this time[^]*Ctrl-G answers/);
      screen.type(CTRL_G);
      await screen.until("❯ y  yes, this time");
      screen.type(key!);
      await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
      const lines = screen.screen().split("\n");
      assert.ok(
        lines.some((line) => line.includes("Allow Vis to open doors?") && line.includes(text!)),
        screen.screen(),
      );
    }, { rows: 40 });
  }
});

Deno.test("what is typed when a question appears goes into the input, and answers nothing", async () => {
  await asks("(await asking.open()).allowed", async (rig) => {
    const { screen, engine } = rig;
    screen.type("yes, always");
    await screen.until("yes, always");
    screen.type(ENTER);
    await screen.until(/yes, always \(queued/);
    screen.type("ynca");
    await screen.until((now) => now.includes("Vis asks") && /\bynca\b/.test(now));
    assert.ok(waits(rig));
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("n");
    await screen.until((now) => now.includes(DONE) && /\bynca\b/.test(now));
    assert.match(engine.context(1), /allowed: false|false/);
  });
});

Deno.test("arrows and Enter choose; w asks for the reason, which the model reads; Esc is a no", async () => {
  for (
    const [keys, said] of [
      [[[DOWN, "❯ c"], [ENTER, DONE]], "in this conversation"],
      [[["w", "Why not?"], ["use the copy", "use the copy"], [ENTER, DONE]], "? no: use the copy"],
      [[["w", "Why not?"], [ESC, "❯ y"], [ESC, DONE]], "? no"],
      [[[ESC, DONE]], "? no"],
    ] as const
  ) {
    await asks("await asking.open()", async ({ screen, engine }) => {
      screen.type(CTRL_G);
      await screen.until("❯ y");
      for (const [key, then] of keys) {
        screen.type(key);
        await screen.until(then);
      }
      await screen.until((now) => now.includes(DONE) && now.includes(said));
      if (said.includes("copy")) assert.match(engine.context(1), /the user said no: use the copy/);
    }, { rows: 40 });
  }
});

Deno.test("Ctrl-G goes back to the input as well, and works from another panel", async () => {
  await asks("await asking.open()", async (rig) => {
    const { screen } = rig;
    screen.type(CTRL_K);
    await screen.until("Commands");
    screen.type(CTRL_G);
    await screen.until((now) => now.includes("❯ y  yes, this time") && !now.includes("Commands"));
    screen.type(CTRL_G);
    await screen.until("Ctrl-G answers");
    screen.type("yes");
    await screen.until((now) => now.split("\n").some((line) => line.trim() === "yes" || line.includes(" yes ")));
    assert.ok(waits(rig));
  });
});

Deno.test("Ctrl-C cancels the query from the question, and the question goes", async () => {
  for (const first of ["", CTRL_G]) {
    await asks("await asking.open()", async ({ screen }) => {
      screen.type(first);
      if (first !== "") await screen.until("❯ y");
      screen.type(CTRL_C);
      await screen.until((now) => now.includes("cancelled") && !now.includes("Vis asks"));
    });
  }
});

Deno.test("all of a long question can be read, also in a small terminal and after a resize", async () => {
  const code = `await asking.open("doors", "run " + Array.from({ length: 400 }, (_, n) => "part" + n).join("\\n"))`;
  await asks(code, async ({ screen }) => {
    screen.type(CTRL_G);
    await screen.until("PgDn shows more");
    screen.resize(30, 14);
    await screen.until(/^╰─ PgDn .{21}╯$/m);
    const seen = new Set<string>();
    for (let pages = 0; pages < 40 && !screen.screen().includes("say why"); pages++) {
      for (const [part] of screen.screen().matchAll(/part\d+/g)) seen.add(part);
      const before = screen.screen();
      screen.type(PAGE_DOWN);
      await screen.until((now) => now !== before);
    }
    for (const [part] of screen.screen().matchAll(/part\d+/g)) seen.add(part);
    assert.equal(seen.size, 400);
    screen.type("y");
    await screen.until(DONE);
  });
});

Deno.test("text of a question cannot control the terminal", async () => {
  await asks(`await asking.open("doors", "run \\u001b[2J\\u202edir", "\\u001b]0;x\\u0007")`, async ({ screen }) => {
    await screen.until("run \\u001b[2J\\u202edir?");
    assert.ok(screen.screen().includes("\\u001b]0;x"));
  });
});

Deno.test("each question needs its own key", async () => {
  const code = "const both = await Promise.all([asking.open('a'), asking.open('b')]); both.map((x) => x.allowed)";
  await asks(code, async ({ screen, engine }) => {
    await screen.until("open a?");
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("y");
    await screen.until((now) => now.includes("open b?") && now.includes("Ctrl-G answers"));
    screen.type("y");
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("n");
    await screen.until(DONE);
    assert.match(engine.context(1), /\[\s*true, false\s*\]/);
  });
});

Deno.test("a child query asks here as well", async () => {
  const replies = [replyJson(["(await asking.open()).allowed"]), final("Child: asked"), final(DONE)];
  await asks('await rlm.run("Open the doors")', async ({ screen }) => {
    await screen.until("waiting for your answer (Ctrl-G)");
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("y");
    await screen.until(DONE);
    assert.match(screen.screen(), /Allow Vis to open doors\? yes, this time/);
  }, { replies, rows: 40 });
});
