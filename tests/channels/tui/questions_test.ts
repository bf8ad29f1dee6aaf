import assert from "node:assert/strict";
import rlm from "../../../extensions/rlm/mod.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { HandClock } from "../../helpers/hand_clock.ts";
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

interface QuestionRig extends ScreenRig {
  readonly clock: HandClock;
  press(key: string): void;
}

async function asks(
  code: string,
  work: (rig: QuestionRig) => Promise<void>,
  { replies = [final(DONE)], ...options }: RigOptions & { readonly replies?: readonly ScriptedReply[] } = {},
): Promise<void> {
  const clock = new HandClock();
  const all = { ...options, parts: { clock }, engine: { extensions: [ASKING, rlm], ...options.engine } };
  await withScreen([replyJson([code]), ...replies], all, async (rig) => {
    rig.screen.type(`Go${ENTER}`);
    await rig.screen.until("Vis asks");
    const press = (key: string): void => {
      clock.pass(1_000);
      rig.screen.type(key);
      clock.pass(1_000);
    };
    await work({ ...rig, clock, press });
  });
}

function waits({ screen }: ScreenRig): boolean {
  return screen.screen().includes("Vis asks");
}

Deno.test("an approval is shown with its choices, and its letters answer it if the input is empty", async () => {
  const answers = { y: "yes, for this call only", c: "in this conversation", a: "from now on", n: "no" };
  const code = Object.keys(answers).map((key) => `await asking.open("${key}").catch(() => {})`).join("\n");
  await asks(code, async ({ screen, press }) => {
    for (const key of Object.keys(answers)) {
      const shown = await screen.until((now) => now.includes(`Allow Vis to open ${key}?`) && now.includes("Vis asks"));
      assert.match(shown, /It is locked\.[^]*y {2}yes, for this call only[^]*y c a n w · ↑↓/);
      assert.match(shown, /waiting for your answer/);
      assert.match(shown, /Answer with y c a n w, or type an instruction/);
      press(key);
      await screen.until((now) => new RegExp(`Allow Vis to open ${key}\\? .*${answers[key as "y"]}`).test(now));
    }
    await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
  }, { rows: 40 });
});

Deno.test("the end of the conversation stays visible above a question, however long the question is", async () => {
  const story = Array.from({ length: 30 }, (_, at) => `line ${at}`).join("\n\n");
  for (const why of ["It is locked.", "It is locked. ".repeat(70)]) {
    const code = `(await asking.open("doors", "open doors", ${JSON.stringify(why)})).allowed`;
    const options = { rows: 24, engine: { extensions: [ASKING] } };
    await withScreen([final(story), replyJson([code]), final(DONE)], options, async ({ screen }) => {
      screen.type(`Tell${ENTER}`);
      await screen.until("line 29");
      screen.type(`Go${ENTER}`);
      const shown = await screen.until(/Vis asks[^]*waiting for your answer/);
      assert.match(shown, /▸ calling asking\.open …\s+╭─ Vis asks/);
      assert.match(shown, /Answer with y .*, or type an instruction/);
      screen.resize(40, 12);
      await screen.until(/^1 ▸ calling asking\.open …\n╭─ Vis asks[^]*Answer with y .*…$/m);
    });
  }
});

Deno.test("a question and its answer are above the result of the block, also in a conversation that is opened again", async () => {
  await asks("(await asking.open()).allowed; await asking.fails()", async ({ screen, press }) => {
    const order = /^1 Allow Vis to open doors\? yes, for this call only\s+✓ called asking\.open .*\s+✗ /m;
    press("y");
    await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
    assert.match(screen.screen(), order);
    screen.type(`/conversations${ENTER}`);
    await screen.until("╭─ Conversations");
    screen.type(ENTER);
    await screen.until((now) => order.test(now) && !now.includes("╭─"));
  });
});

Deno.test("typed text answers nothing: neither its first letter, nor letters typed as the approval appears", async () => {
  await asks("(await asking.open()).allowed", async (rig) => {
    const { screen, clock, engine } = rig;
    screen.type("n"); // The question has just appeared.
    await screen.until(/^ n /m);
    screen.type("\x7f");
    await screen.until("Answer with");
    clock.pass(1_000);
    screen.type("a");
    clock.pass(100);
    screen.type("lways knock");
    await screen.until("always knock");
    clock.pass(1_000);
    screen.type(ENTER);
    await screen.until("Answer the question first (y/n), or Esc to send this as an instruction");
    assert.ok(waits(rig) && screen.screen().includes("always knock"));
    screen.type(ESC);
    await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
    assert.match(engine.context(1), /false/);
    assert.match(engine.context(1), /always knock/);
  }, { rows: 40 });
});

Deno.test("Ctrl-G gives an approval the keyboard, and the text in the input stays", async () => {
  await asks("(await asking.open()).allowed", async ({ screen, engine }) => {
    screen.type("ynca");
    await screen.until((now) => now.includes("Esc says no and sends your text") && /\bynca\b/.test(now));
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("n");
    await screen.until((now) => now.includes(DONE) && /\bynca\b/.test(now));
    assert.match(engine.context(1), /false/);
  });
});

Deno.test("each answer has one line: the question shows a scope that is too long for it", async () => {
  const scope = `doors of the ${"long ".repeat(12)}house`;
  await asks(`await asking.open(${JSON.stringify(scope)}, "open them")`, async ({ screen, press }) => {
    const text = await screen.until("from now on");
    assert.match(text, /Answers for longer allow: doors of the long/);
    const choices = text.split("\n").filter((line) => /^\W*[ycan] {2}(?:yes|no)/.test(line));
    assert.equal(choices.length, 4, text);
    press("a");
    await screen.until((now) => now.includes(DONE));
  });
});

Deno.test("w and the arrows open a question at an empty input; Esc is a no", async () => {
  for (const [first, then] of [["w", "Why not?"], [DOWN, "❯ c"], [ESC, DONE]] as const) {
    await asks("await asking.open()", async ({ screen, press }) => {
      press(first);
      await screen.until(then);
    }, { rows: 40 });
  }
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
      if (said.includes("copy")) assert.match(engine.context(1), /the user said no and wrote \\?"use the copy\\?"/);
    }, { rows: 40 });
  }
});

Deno.test("Ctrl-G goes back to the input as well, and works from another panel", async () => {
  await asks("await asking.open()", async (rig) => {
    const { screen } = rig;
    screen.type(CTRL_K);
    await screen.until("Commands");
    screen.type(CTRL_G);
    await screen.until((now) => now.includes("❯ y  yes, for this call only") && !now.includes("Commands"));
    screen.type(CTRL_G);
    await screen.until("y c a n w · ↑↓");
    screen.type("yes");
    await screen.until((now) => now.split("\n").some((line) => line.trim() === "yes" || line.includes(" yes ")));
    assert.ok(waits(rig));
  });
});

Deno.test("Ctrl-C cancels the query from the approval, which disappears", async () => {
  for (const first of ["", CTRL_G]) {
    await asks("await asking.open()", async ({ screen }) => {
      screen.type(first);
      if (first !== "") await screen.until("❯ y");
      screen.type(CTRL_C);
      const text = await screen.until((now) => /^cancelled/m.test(now) && !now.includes("Vis asks"));
      assert.match(text, /Allow Vis to open doors\? no: cancelled/);
      assert.doesNotMatch(text, /✗|The block was cancelled/, "nothing failed");
    });
  }
});

Deno.test("all of a long approval can be read, even in a small terminal and after a resize", async () => {
  const code = `await asking.open("doors", "run " + Array.from({ length: 400 }, (_, n) => "part" + n).join("\\n"))`;
  await asks(code, async ({ screen }) => {
    screen.type(CTRL_G);
    await screen.until("PgDn shows more");
    screen.resize(30, 14);
    await screen.until(/^╰─ PgDn .{21}╯$/m);
    const seen = new Set<string>();
    for (let pages = 0; pages < 80 && !screen.screen().includes("say why"); pages++) {
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

Deno.test("text of an approval cannot control the terminal", async () => {
  await asks(`await asking.open("doors", "run \\u001b[2J\\u202edir", "\\u001b]0;x\\u0007")`, async ({ screen }) => {
    await screen.until("run \\u001b[2J\\u202edir?");
    assert.ok(screen.screen().includes("\\u001b]0;x"));
  });
});

Deno.test("each approval needs its own key", async () => {
  const code = "const both = await Promise.all([asking.open('a'), asking.open('b')]); both.map((x) => x.allowed)";
  await asks(code, async ({ screen, engine }) => {
    await screen.until("open a?");
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("y");
    await screen.until((now) => now.includes("open b?") && now.includes("y c a n w · ↑↓"));
    screen.type("y"); // The question has just appeared.
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("n");
    await screen.until(DONE);
    assert.match(engine.context(1), /\[\s*true, false\s*\]/);
  });
});

Deno.test("a sub-query asks here too", async () => {
  const replies = [replyJson(["(await asking.open()).allowed"]), final("Child: asked"), final(DONE)];
  await asks('await rlm.run("Open the doors")', async ({ screen }) => {
    await screen.until("waiting for your answer");
    screen.type(CTRL_G);
    await screen.until("❯ y");
    screen.type("y");
    await screen.until(DONE);
    assert.match(screen.screen(), /Allow Vis to open doors\? yes, for this call only/);
  }, { replies, rows: 40 });
});

Deno.test("a refusal is a quiet line, also in a conversation that is opened again", async () => {
  const refused = /^1 Allow Vis to open doors\? no *\n {2}– calling asking\.open: refused *$/m;
  const code = "const {allowed} = await asking.open(); if (!allowed) await asking.fails()";
  await asks(code, async ({ screen, press }) => {
    press("n");
    await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
    assert.match(screen.screen(), / – calling asking\.open: refused.*\n +✗ TypeError/);
  });
  await asks("await asking.open()", async ({ screen, press }) => {
    press("n");
    await screen.until((now) => now.includes(DONE) && !now.includes("Vis asks"));
    assert.match(screen.screen(), refused);
    screen.type(`/new${ENTER}`);
    await screen.until((now) => !now.includes(DONE));
    screen.type(`/conversations${ENTER}`);
    await screen.until(/❯ .*Go/);
    screen.type(ENTER);
    await screen.until((now) => refused.test(now) && now.includes(DONE));
  });
});
