import assert from "node:assert/strict";
import type { OpenedBot } from "../../../src/channels/telegram/bot.ts";
import { webhookSecret } from "../../../src/channels/telegram/updates.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { type FakeMessage, TOKEN } from "./_fake_bot_api.ts";
import { type Rig, withBot } from "./_rig.ts";

const ENGINE = { engine: { extensions: [ASKING] } };
const GROUP = -500;

function asks(
  code: string,
  work: (rig: Rig, question: FakeMessage) => Promise<void>,
): Promise<void> {
  return withBot([replyJson([code]), final("That: is all"), final("Next: one")], async (rig) => {
    rig.api.say("go");
    await rig.until(() => questionIn(rig) !== undefined, "question");
    await work(rig, questionIn(rig)!);
  }, ENGINE);
}

function inGroup(text: string): Readonly<Record<string, unknown>> {
  const end = text.indexOf(" ");
  return {
    chat: { id: GROUP, type: "supergroup", title: "G" },
    entities: text.startsWith("@") ? [{ type: "mention", offset: 0, length: end }] : [],
  };
}

function questionIn({ api }: Rig): FakeMessage | undefined {
  return api.messages.find(({ buttons }) => Object.keys(buttons).length > 0);
}

function notices({ api }: Rig): readonly unknown[] {
  return api.callsOf("answerCallbackQuery").map(({ payload }) => payload["text"]);
}

async function isAnswered(rig: Rig): Promise<void> {
  await rig.until(() => rig.api.shown().some((text) => text.startsWith("That: is all")), "answer");
}

Deno.test("an approval is a message with a button for each choice, and a press answers it", async () => {
  for (
    const [label, said] of [
      ["Yes", "✅ yes, for this call only"],
      ["Conversation", "✅ yes, and doors in this conversation"],
      ["Always", "✅ yes, and doors in this workspace from now on"],
      ["No", "🚫 no"],
    ] as const
  ) {
    await asks("(await asking.open()).allowed", async (rig, question) => {
      assert.match(
        question.texts[0]!,
        /^🔐 Allow Vis to open doors\?\n\nIt is locked\.\n\nYes: yes, for this call only\n/,
      );
      assert.deepEqual(Object.keys(question.buttons), ["Yes", "Conversation", "Always", "No"]);
      for (const data of Object.values(question.buttons)) assert.ok(new TextEncoder().encode(data).length <= 64);
      rig.api.press(question.buttons[label]!, { chat: 7, message: question.id });
      await isAnswered(rig);
      await rig.until(() => question.texts.length === 2);
      assert.ok(question.texts[1]!.endsWith(`\n\n${said}`), question.texts[1]);
      assert.deepEqual(question.buttons, {});
      assert.deepEqual(notices(rig), [label]);
      assert.match(rig.engine.context(1), label === "No" ? /\bfalse\b/ : /\btrue\b/);
    });
  }
});

Deno.test("an approval has its change as a block of code with lines", () => {
  const change = "--- a\\n+++ a\\n@@ -1 +1 @@\\n-x\\n+y\\n";
  return asks(`await asking.open("doors", "change a", "", false, "${change}")`, async (rig, question) => {
    const shown = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y";
    assert.ok(question.texts[0]?.startsWith(`🔐 Allow Vis to change a?\n\n${shown}\n\nYes:`), question.texts[0]);
    const [{ type, offset, length } = assert.fail()] = question.entities;
    assert.deepEqual([type, question.texts[0]?.slice(offset, offset + length)], ["pre", shown]);
    rig.api.press(question.buttons["No"]!, { chat: 7, message: question.id });
    await isAnswered(rig);
  });
});

Deno.test("a text reply to the approval is a refusal with that reason; any other text is not an answer", () =>
  asks("await asking.open()", async (rig, question) => {
    const from = { id: 123456, is_bot: true, first_name: "Vis" };
    rig.api.say("yes");
    await rig.until(() => rig.api.callsOf("setMessageReaction").length === 1, "steered");
    rig.api.say("yes, always", { reply_to_message: { message_id: 1, from } });
    await rig.until(() => rig.api.callsOf("setMessageReaction").length === 2, "steered");
    assert.equal(question.texts.length, 1);
    rig.api.say("use the copy", { reply_to_message: { message_id: question.id, from } });
    await isAnswered(rig);
    assert.match(rig.engine.context(1), /the user said no and wrote \\?"use the copy\\?"/);
    await rig.until(() => question.texts.at(-1)!.endsWith("🚫 no: use the copy"));
  }));

Deno.test("only who may use the bot answers, in the chat that was asked, with the question's own secret", () =>
  asks("(await asking.open()).allowed", async (rig, question) => {
    const { Yes: yes = "" } = question.buttons;
    rig.api.press(yes, { chat: 7, message: question.id, user: 99 });
    rig.api.press(yes, { chat: GROUP, message: question.id });
    rig.api.press(`${crypto.randomUUID()} once`, { chat: 7, message: question.id });
    rig.api.press(`${yes.split(" ")[0]} never`, { chat: 7, message: question.id });
    rig.api.press("", { chat: 7, message: question.id });
    await rig.until(() => notices(rig).length === 5);
    const old = "This question no longer waits for an answer";
    assert.deepEqual(notices(rig).toSorted(), ["This bot answers only allowed users", old, old, old, old].toSorted());
    assert.equal(question.texts.length, 1);
    rig.api.press(yes, { chat: 7, message: question.id });
    await isAnswered(rig);
    rig.api.press(yes, { chat: 7, message: question.id });
    await rig.until(() => notices(rig).length === 7);
    assert.equal(notices(rig).at(-1), old);
  }));

Deno.test("in a group, any user of the bot answers, and the message names this user", () =>
  withBot([replyJson(["(await asking.open()).allowed"]), final("That: is all")], async (rig) => {
    rig.api.say("@VisTestBot go", inGroup("@VisTestBot go"));
    await rig.until(() => questionIn(rig) !== undefined, "question");
    const question = questionIn(rig)!;
    assert.equal(question.chat, GROUP);
    rig.api.press(question.buttons["Yes"]!, { chat: GROUP, message: question.id, user: 55 });
    await isAnswered(rig);
    await rig.until(() => question.texts.at(-1)!.endsWith("✅ yes, for this call only (User55)"));
  }, ENGINE));

Deno.test("/cancel ends the approval", () =>
  asks("await asking.open()", async (rig, question) => {
    const { Yes: yes = "" } = question.buttons;
    rig.api.say("/cancel");
    await rig.until(() => question.texts.at(-1)!.endsWith("⏹ Cancelled"));
    assert.deepEqual(question.buttons, {});
    rig.api.press(yes, { chat: 7 });
    await rig.until(() => notices(rig).length === 1);
    assert.match(String(notices(rig)[0]), /no longer/);
  }));

Deno.test("a restart asks again, and the old message answers nothing", () =>
  withBot([
    replyJson(["(await asking.open()).allowed"]),
    replyJson(["(await asking.open()).allowed"]),
    final("That: is all"),
  ], async (rig) => {
    rig.api.say("go");
    await rig.until(() => questionIn(rig) !== undefined, "question");
    const first = questionIn(rig)!;
    const { Yes: old = "" } = first.buttons;
    await rig.restart();
    await rig.until(() => questionIn(rig) !== undefined && questionIn(rig) !== first, "asked again");
    assert.deepEqual(first.buttons, {});
    rig.api.press(old, { chat: 7, message: first.id });
    await rig.until(() => notices(rig).length === 1);
    rig.api.press(questionIn(rig)!.buttons["Yes"]!, { chat: 7 });
    await isAnswered(rig);
  }, { ...ENGINE, shutdownMs: 10 }));

Deno.test("an approval that is asked every time has only buttons for yes and no", () =>
  asks('(await asking.open("doors", "open doors", "", false)).allowed', async (rig, question) => {
    assert.deepEqual(Object.keys(question.buttons), ["Yes", "No"]);
    const { Yes: yes = "" } = question.buttons;
    rig.api.press(yes.replace("once", "workspace"), { chat: 7, message: question.id });
    await rig.until(() => notices(rig).length === 1);
    assert.deepEqual(notices(rig), ["This question no longer waits for an answer"]);
    rig.api.press(yes, { chat: 7, message: question.id });
    await isAnswered(rig);
  }));

Deno.test("all of a long question is shown, in as many messages as it needs, with the buttons under the last", () =>
  asks('await asking.open("doors", "run " + "\\u202e".repeat(1000) + "x".repeat(2900))', async (rig, question) => {
    const all = rig.api.messages.filter(({ id }) => id <= question.id && id > 1).map(({ texts }) => texts[0]).join("");
    assert.ok(all.split("\\u202e").length > 1000);
    assert.match(question.texts[0] ?? "", /This question has 8904 characters and begins with: run \\u202e/);
    assert.ok(all.includes("x".repeat(2000)));
    rig.api.press(question.buttons["No"]!, { chat: 7, message: question.id });
    await isAnswered(rig);
  }));

Deno.test("a press comes through the webhook as well", () =>
  withBot([replyJson(["(await asking.open()).allowed"]), final("That: is all")], async (rig) => {
    const send = async (update: object): Promise<void> => {
      const { status } = await (rig.bot as OpenedBot).receive(
        new Request("https://vis.example/telegram", {
          method: "POST",
          headers: { "x-telegram-bot-api-secret-token": webhookSecret(TOKEN) },
          body: JSON.stringify(update),
        }),
      );
      assert.equal(status, 200);
    };
    await rig.until(() => rig.api.callsOf("setWebhook").length === 1);
    assert.deepEqual(rig.api.callsOf("setWebhook")[0]?.payload["allowed_updates"], [
      "message",
      "edited_message",
      "callback_query",
    ]);
    const from = { id: 7, is_bot: false, first_name: "A" };
    const chat = { id: 7, type: "private" };
    await send({ update_id: 1, message: { message_id: 500, date: 1, from, chat, text: "go" } });
    await rig.until(() => questionIn(rig) !== undefined, "question");
    const question = questionIn(rig)!;
    const data = question.buttons["Yes"];
    await send({ update_id: 2, callback_query: { id: "p", from, message: { message_id: question.id, chat }, data } });
    await isAnswered(rig);
  }, { ...ENGINE, webhookUrl: "https://vis.example/telegram" }));
