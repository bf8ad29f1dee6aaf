import assert from "node:assert/strict";
import type { Messenger } from "../../../src/channels/telegram/messenger.ts";
import { Reply } from "../../../src/channels/telegram/reply.ts";
import type { RichMessage } from "../../../src/channels/telegram/rich_text.ts";
import { RichText } from "../../../src/channels/telegram/rich_text.ts";
import { Cancelled } from "../../../src/domain/errors.ts";

const PLACE = { id: 7, thread: null, group: false };

/** A chat that outlives processes, and a kill before or after its n-th step (a call, or a note of one). */
class Chat {
  readonly texts: string[] = [];
  saved: readonly number[] = [];
  calls = 0;
  #left = Infinity;
  #after = false;

  killAt(step: number, after: boolean): void {
    this.#left = step;
    this.#after = after;
  }

  reply(): Reply {
    const messenger = {
      send: (_place: unknown, { text }: RichMessage) => this.#step(() => this.texts.push(text) - 1),
      edit: (_place: unknown, { messageId, message }: { readonly messageId: number; readonly message: RichMessage }) =>
        this.#step(() => {
          if (this.texts[messageId] === undefined) return false;
          this.texts[messageId] = message.text;
          return true;
        }),
      progress: () => Promise.resolve(),
    } as unknown as Messenger;
    const save = (ids: readonly number[]) => this.#step(() => void (this.saved = ids));
    return new Reply({ place: PLACE, replyTo: null, messenger, ids: this.saved, save });
  }

  #step<T>(work: () => T): Promise<T> {
    this.calls++;
    const isLast = this.#left-- === 0;
    if (isLast && !this.#after) return Promise.reject(new Cancelled("killed"));
    const done = work();
    return isLast ? Promise.reject(new Cancelled("killed")) : Promise.resolve(done);
  }
}

async function answer(chat: Chat, whole: RichText): Promise<void> {
  const reply = chat.reply();
  await reply.open("⏳");
  await reply.finish(whole);
}

Deno.test("Reply: a kill at any step, before or after it, repeats and loses no part", async () => {
  const parts = ["a", "b", "c"].map((letter) => letter.repeat(4000));
  const whole = () => new RichText().add(parts.join("\n\n"));
  const clean = new Chat();
  await answer(clean, whole());
  assert.deepEqual(clean.texts, parts);
  for (let step = 0; step < clean.calls; step++) {
    for (const after of [false, true]) {
      const chat = new Chat();
      chat.killAt(step, after);
      await assert.rejects(answer(chat, whole()), Cancelled);
      const lost = chat.texts.length - chat.saved.length;
      chat.killAt(Infinity, false);
      await answer(chat, whole());
      const left = chat.texts.filter((text) => !["⏳", "…"].includes(text));
      assert.equal(chat.texts.length, parts.length + lost, "what no process knows of is all that is left");
      assert.deepEqual(left, parts, `step ${step} ${after ? "after" : "before"}`);
    }
  }
});

Deno.test("Reply.finish() writes a message anew that somebody has deleted", async () => {
  const chat = new Chat();
  const reply = chat.reply();
  await reply.open("⏳");
  delete chat.texts[0];
  await reply.finish(new RichText().add("answer"));
  assert.deepEqual(chat.texts.filter((text) => text !== undefined), ["answer"]);
  assert.deepEqual(chat.saved, [1]);
});

Deno.test("Reply.finish() leaves out what is beyond twenty messages, and says so", async () => {
  const chat = new Chat();
  await answer(chat, new RichText().add("x".repeat(4096 * 25)));
  assert.equal(chat.texts.length, 21);
  assert.equal(chat.texts.at(-1), "(5 more parts are left out)");
});
