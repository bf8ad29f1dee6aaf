import assert from "node:assert/strict";
import type { Update } from "../../../src/channels/telegram/bot_api.ts";
import { readUpdate } from "../../../src/channels/telegram/read_update.ts";
import { BOT } from "./_fake_bot_api.ts";

const ME = BOT as unknown as Parameters<typeof readUpdate>[1];
const GROUP = { id: -5, type: "supergroup", title: "G" };
const OTHER = { id: 8, is_bot: false, first_name: "Bea" };

function read(more: object, own: object = {}) {
  const from = { id: 7, is_bot: false, first_name: "Al" };
  const message = { message_id: 3, date: 1, from, chat: { id: 7, type: "private" }, ...more };
  return readUpdate({ update_id: 9, message, ...own } as unknown as Update, ME);
}

function textOf(more: object): string | null {
  const found = read(more);
  return found.kind === "message" ? found.message.text : null;
}

const mention = (offset: number) => [{ type: "mention", offset, length: 11 }];

Deno.test("readUpdate() splits commands, and ignores commands of other bots", () => {
  const of = (text: string, more: object = {}) => {
    const found = read({ text, ...more });
    return found.kind === "message" ? [found.message.command, found.message.text] : found.kind;
  };
  assert.deepEqual(of("/Model  a/b c "), ["model", "a/b c"]);
  assert.deepEqual(of("/new@vistestbot"), ["new", ""]);
  assert.deepEqual(of("/new@OtherBot"), "nothing");
  assert.deepEqual(of("/etc/passwd says"), [null, "/etc/passwd says"]);
  assert.deepEqual(of("/new", { chat: GROUP }), ["new", ""]);
});

Deno.test("readUpdate() in a group accepts messages that name the bot or reply to it", () => {
  const group = { chat: GROUP };
  assert.equal(textOf({ ...group, text: "hello" }), null);
  assert.equal(textOf({ ...group, text: "@VisTestBot, hello", entities: mention(0) }), "hello");
  assert.equal(textOf({ ...group, text: "so @vistestbot do it", entities: mention(3) }), "so do it");
  assert.equal(textOf({ ...group, text: "mail me@VisTestBot" }), null);
  const named = [{ type: "text_mention", offset: 0, length: 3, user: BOT }];
  assert.equal(textOf({ ...group, text: "Vis go", entities: named }), "go");
  assert.equal(textOf({ ...group, text: "go", reply_to_message: { message_id: 1, from: BOT, chat: GROUP } }), "go");
  assert.equal(textOf({ ...group, text: "go", reply_to_message: { message_id: 1, from: OTHER, chat: GROUP } }), null);
  // The bot may have sent the first message of a topic, which every message in the topic answers.
  const topic = { message_thread_id: 1, is_topic_message: true };
  assert.equal(
    textOf({ ...group, ...topic, text: "go", reply_to_message: { message_id: 1, from: BOT, chat: GROUP } }),
    null,
  );
});

Deno.test("readUpdate() quotes messages that the bot cannot know, but not its own", () => {
  const replied = (from: object, text: string) => ({ reply_to_message: { message_id: 1, from, text } });
  assert.equal(
    textOf({ text: "true?", ...replied(OTHER, "It is\nso") }),
    "true?\n\nThis is a reply to what Bea wrote:\n> It is\n> so",
  );
  assert.equal(textOf({ text: "true?", ...replied(BOT, "I said") }), "true?");
  assert.equal(
    textOf({ text: "true?", ...replied(BOT, "I said much"), quote: { text: "said", position: 2 } }),
    "true?\n\nThis is a reply to what you wrote:\n> said",
  );
});

Deno.test("readUpdate() separates topics, and accepts no thread in a chat without topics", () => {
  const place = (more: object) => {
    const found = read({ text: "/help", chat: GROUP, ...more });
    return found.kind === "message" ? found.message.chat : null;
  };
  assert.deepEqual(place({ message_thread_id: 4, is_topic_message: true }), { id: -5, thread: 4, group: true });
  assert.deepEqual(place({ message_thread_id: 4 }), { id: -5, thread: null, group: true });
});

Deno.test("readUpdate() reports messages that it cannot read, and skips other events, and bots", () => {
  const kinds = (more: object, own: object = {}) => read(more, own).kind;
  for (const field of ["voice", "video", "sticker", "location", "poll"]) {
    assert.equal(kinds({ [field]: {} }), "unfit", field);
  }
  assert.equal(kinds({ voice: {}, chat: GROUP }), "nothing");
  assert.equal(kinds({ text: "x", from: { ...OTHER, is_bot: true } }), "nothing");
  assert.equal(kinds({ new_chat_members: [OTHER] }), "nothing");
  assert.equal(kinds({ migrate_to_chat_id: -7, chat: GROUP }), "moved");
  assert.equal(kinds({ text: "   " }), "unfit");
  const edited = { message_id: 3, date: 1, from: OTHER, chat: { id: 8, type: "private" } };
  const readEdited = (more: object) =>
    readUpdate({ update_id: 1, edited_message: { ...edited, ...more } } as unknown as Update, ME);
  const found = readEdited({ text: "x", photo: [], media_group_id: "g" });
  assert.ok(found.kind === "message" && found.message.edited && found.message.album === null);
  assert.deepEqual([found.message.text, found.message.files], ["x", []]);
  assert.equal(readEdited({}).kind, "nothing");
  assert.equal(readEdited({ caption: "x", voice: {} }).kind, "nothing");
  assert.equal(readUpdate({ update_id: 1 } as Update, ME).kind, "nothing");
});

Deno.test("readUpdate() names the author of a forwarded message", () => {
  const of = (origin: object) => textOf({ text: "It rains", forward_origin: origin });
  const told = (who: string) => `It rains\n\nThis was forwarded; ${who} wrote it.`;
  assert.equal(of({ type: "user", date: 1, sender_user: OTHER }), told("Bea"));
  assert.equal(of({ type: "hidden_user", date: 1, sender_user_name: "Cy" }), told("Cy"));
  assert.equal(
    of({ type: "channel", date: 1, message_id: 1, chat: { id: -1, type: "channel", title: "N" } }),
    told("N"),
  );
  assert.equal(of({ type: "chat", date: 1, sender_chat: { id: -1, type: "supergroup", title: "G" } }), told("G"));
  assert.equal(of({ type: "new kind" }), told("somebody"));
});

Deno.test("readUpdate() takes the file of another one's message that is answered, and its words for a bare mention", () => {
  const document = (id: string) => ({ document: { file_id: id, file_name: `${id}.txt` } });
  const filesOf = (more: object) => {
    const found = read(more);
    return found.kind === "message" ? found.message.files.map(({ fileId }) => fileId) : found.kind;
  };
  const replied = (from: object, more: object) => ({ reply_to_message: { message_id: 1, from, ...more } });
  assert.deepEqual(filesOf({ text: "sum it", ...replied(OTHER, document("a")) }), ["a"]);
  assert.deepEqual(filesOf({ caption: "sum", ...document("b"), ...replied(OTHER, document("a")) }), ["b"]);
  assert.deepEqual(filesOf({ text: "sum it", ...replied(BOT, document("a")) }), []);
  const bare = { chat: GROUP, text: "@VisTestBot", entities: mention(0) };
  assert.equal(textOf({ ...bare, ...replied(OTHER, { text: "2+2?" }) }), "This is a reply to what Bea wrote:\n> 2+2?");
  const nothing = read(bare);
  assert.match(nothing.kind === "unfit" ? nothing.told : "", /^Yes\? Write your request in the same message$/);
});
