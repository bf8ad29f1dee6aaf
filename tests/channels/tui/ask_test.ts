import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { streamsAnswer, withScreen } from "./_rig.ts";

const ENTER = "\r";
const CTRL_D = "\x04";

Deno.test("a typed question is asked, its iterations and its answer are shown, and Ctrl-D leaves", async () => {
  const replies = [
    replyJson("const two = 1 + 1;\ntwo", { thinking: "I add the numbers." }),
    replyJson([], { final: { answer: "It is **2**.", answerType: "markdown", confidence: "high" } }),
  ];
  await withScreen(replies, { place: { addDir: ["../my lib"] } }, async ({ screen, out, code, engine }) => {
    screen.type(`What is 1 + 1?${ENTER}`);
    const text = await screen.until("It is 2.");
    assert.match(text, /› What is 1 \+ 1\?/);
    assert.match(text, /I add the numbers\./);
    assert.match(text, /✓ const two = 1 \+ 1; ⏎ two → 2 \d+ ms/);
    await screen.until("2 steps");
    screen.type(CTRL_D);
    assert.equal(await code, 0);
    await screen.settled();
    assert.equal(screen.alternate, false);
    const [query] = await engine.conversations.queries((await engine.conversations.latest("/nowhere"))!);
    assert.match(
      out.join(""),
      new RegExp(`Resume with: vis --conversation ${query!.conversationId.slice(0, 13)} --add-dir '../my lib'\n`),
    );
  });
});

Deno.test("an answer is drawn as it comes, each frame whole and no more of them than can be seen", async () => {
  const answer = Array.from({ length: 400 }, (_, n) => `word${n}`).join(" ");
  await withScreen([], {}, async ({ screen, engine }) => {
    streamsAnswer(engine, { answer, chunk: 8 });
    const before = screen.writes.length;
    screen.type(`Tell me${ENTER}`);
    const early = await screen.until("word10 ");
    assert.ok(!early.includes("word390"));
    await screen.until("word399");
    const frames = screen.writes.slice(before).filter((one) => one.includes("\x1b[?2026h"));
    assert.ok(frames.length < 200, `${frames.length} frames`);
    for (const frame of frames) assert.ok(frame.endsWith("\x1b[?2026l"), JSON.stringify(frame.slice(-20)));
  });
});

Deno.test("an answer is dim while the model writes it, disappears if it is refused, and is plain once accepted", async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const rest = "and so on ".repeat(20);
  const written = (answer: string) => ({ answer: `${answer} ${rest}`, answerType: "markdown", confidence: "high" });
  const replies = [
    { text: replyJson("throw new Error('no')", { final: written("It **has** four lines") }), between: first.promise },
    { text: replyJson([], { final: written("It **has** seven lines") }), between: second.promise },
  ];
  await withScreen(replies, { color: true }, async ({ screen }) => {
    screen.type(`How many?${ENTER}`);
    await screen.until("It has four lines");
    assert.match(screen.dimmed(), /It has four lines/);
    first.resolve();
    await screen.until("It has seven lines");
    assert.doesNotMatch(screen.screen(), /four lines/);
    assert.match(screen.dimmed(), /It has seven lines/);
    second.resolve();
    assert.match(await screen.until("2 steps"), /It has seven lines/);
    assert.doesNotMatch(screen.dimmed(), /seven lines/);
  });
});
