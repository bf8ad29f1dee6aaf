import assert from "node:assert/strict";
import { visibleWidth } from "@earendil-works/pi-tui";
import { replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { streamsAnswer, withScreen } from "./_rig.ts";

const ENTER = "\r";
const markdown = (answer: string, chunk = 16): ScriptedReply => ({
  text: replyJson([], { final: { answer, answerType: "markdown", confidence: "high" } }),
  chunk,
});

Deno.test("nothing that a model writes commands the terminal", async () => {
  const evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1m \u202egnp.exe\u202c \x1b]52;c;aGk=\x07 end";
  const replies = [
    replyJson(`console.log(${JSON.stringify(evil)}); throw new Error(${JSON.stringify(evil)});`, { thinking: evil }),
    markdown(`# ${evil}\n\n[x](http://a/${evil})\n\n\`\`\`ts\n${evil}\n\`\`\`\n\n| a |\n|---|\n| ${evil} |`),
  ];
  await withScreen(replies, { color: true, rows: 60 }, async ({ screen }) => {
    screen.type(`go${ENTER}`);
    await screen.until("2 steps");
    const { raw } = screen;
    for (const bad of ["\x1b]0;owned", "\x1b]52;", "\x9b", "\u202e"]) {
      assert.ok(!raw.includes(bad), JSON.stringify(bad));
    }
    assert.match(screen.screen(), /\\u001b\[31mred/);
  });
});

Deno.test("wide characters and emoji take their cells at every width", async () => {
  const text = "日本語のテキスト 👨‍👩‍👧‍👦 family 😀 çé한국어 ".repeat(20);
  await withScreen(
    [replyJson(`"${text}"`, { thinking: text }), markdown(text)],
    { columns: 60 },
    async ({ screen }) => {
      screen.type(`${text}${ENTER}`);
      await screen.until("2 steps");
      for (const columns of [41, 79, 20, 60]) {
        screen.resize(columns, 24);
        await screen.settled();
        await new Promise((resolve) => setTimeout(resolve, 40));
        await screen.settled();
        for (const line of screen.lines()) assert.ok(visibleWidth(line) <= columns, line);
        assert.match(screen.screen(), /─{10}/);
      }
    },
  );
});

Deno.test("the screen changes its size while an answer streams, down to a few cells", async () => {
  const answer = Array.from({ length: 200 }, (_, n) => `- item ${n} with some words`).join("\n");
  await withScreen([], {}, async ({ screen, engine }) => {
    streamsAnswer(engine, { answer });
    screen.type(`go${ENTER}`);
    await screen.until(/item \d\d? /);
    for (const [columns, rows] of [[40, 10], [10, 4], [3, 2], [1, 1], [200, 60], [80, 24]] as const) {
      screen.resize(columns, rows);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await screen.until("item 199");
    await screen.until("1 step ");
  });
});

Deno.test("what is read stays where it is while more comes, and End goes to the end", async () => {
  const answer = Array.from({ length: 400 }, (_, n) => `Paragraph ${n}.`).join("\n\n");
  await withScreen([], {}, async ({ screen, engine }) => {
    streamsAnswer(engine, { answer });
    screen.type(`go${ENTER}`);
    await screen.until(/Paragraph [3-9]\d\./);
    screen.type("\x1b[5~");
    await screen.until("↓ End");
    const before = screen.lines().slice(0, 15);
    await screen.until((text) => !text.includes("Esc cancels"));
    assert.deepEqual(screen.lines().slice(0, 15), before);
    screen.type("\x1b[F");
    await screen.until("Paragraph 399.");
    screen.type("\x1b[<64;5;5M");
    await screen.until("↓ End");
    for (let n = 0; n < 3; n++) screen.type("\x1b[<65;5;5M");
    await screen.until((text) => !text.includes("↓ End"));
  });
});
