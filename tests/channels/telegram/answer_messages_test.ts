import assert from "node:assert/strict";
import { AnswerMessages, progressView } from "../../../src/channels/telegram/answer_messages.ts";
import type { PendingMessage } from "../../../src/channels/telegram/inbox.ts";
import type { Messenger } from "../../../src/channels/telegram/messenger.ts";
import { type RichMessage, RichText } from "../../../src/channels/telegram/rich_text.ts";
import { Cancelled } from "../../../src/domain/errors.ts";
import { QueryProgress } from "../../../src/domain/query/query_progress.ts";
import type { QueryEventBody } from "../../../src/domain/query/query_schemas.ts";

const PLACE = { id: 7, thread: null, group: false };

/** A chat that outlives processes, with a kill before or after its n-th step (a call, or a note of a call). */
class Chat {
  readonly texts: string[] = [];
  readonly silent: boolean[] = [];
  readonly repliesTo: (number | null)[] = [];
  saved: Pick<PendingMessage, "replies" | "progress"> = {};
  calls = 0;
  keeps = false;
  #left = Infinity;
  #after = false;

  killAt(step: number, after: boolean): void {
    this.#left = step;
    this.#after = after;
  }

  get ids(): readonly number[] {
    return this.saved.replies ?? [];
  }

  reply(): AnswerMessages {
    const messenger = {
      send: (_place: unknown, { text }: RichMessage, { silent = false, replyTo = null } = {}) =>
        this.#step(() => {
          this.silent.push(silent);
          this.repliesTo.push(replyTo);
          return this.texts.push(text) - 1;
        }),
      edit: (_place: unknown, { messageId, message }: { readonly messageId: number; readonly message: RichMessage }) =>
        this.#step(() => {
          if (this.texts[messageId] === undefined) return false;
          this.texts[messageId] = message.text;
          return true;
        }),
      remove: (_place: unknown, messageId: number) =>
        this.#step(() => {
          if (!this.keeps) delete this.texts[messageId];
          return !this.keeps;
        }),
      progress: () => Promise.resolve(),
    } as unknown as Messenger;
    const save = (change: Chat["saved"]) => this.#step(() => void (this.saved = { ...this.saved, ...change }));
    const { progress } = this.saved;
    return new AnswerMessages({ place: PLACE, replyTo: 5, messenger, ids: this.ids, progress, save });
  }

  #step<T>(work: () => T): Promise<T> {
    this.calls++;
    const isLast = this.#left-- === 0;
    if (isLast && !this.#after) return Promise.reject(new Cancelled("killed"));
    const done = work();
    return isLast ? Promise.reject(new Cancelled("killed")) : Promise.resolve(done);
  }
}

async function answer(chat: Chat, whole: RichText, anew = false): Promise<void> {
  const reply = chat.reply();
  await reply.open("⏳");
  await reply.finish(whole, { anew });
}

for (const anew of [false, true]) {
  const how = anew ? "in new messages" : "in place of the progress";
  Deno.test(`Reply: a kill at any step, before or after it, repeats and loses no part of an answer ${how}`, async () => {
    const parts = ["a", "b", "c"].map((letter) => letter.repeat(4000));
    const whole = () => new RichText().add(parts.join("\n\n"));
    const clean = new Chat();
    await answer(clean, whole(), anew);
    assert.deepEqual(clean.texts.filter((text) => text !== undefined), parts);
    assert.deepEqual(clean.silent, anew ? [false, false, true, true] : [false, true, true]);
    assert.deepEqual(clean.repliesTo, anew ? [5, 5, null, null] : [5, null, null]);
    for (let step = 0; step < clean.calls; step++) {
      for (const after of [false, true]) {
        for (const later of [anew, !anew]) {
          const chat = new Chat();
          chat.killAt(step, after);
          await assert.rejects(answer(chat, whole(), anew), Cancelled);
          const known = [...chat.ids, ...typeof chat.saved.progress === "number" ? [chat.saved.progress] : []];
          const made = chat.texts.length;
          const lost = made - known.length;
          assert.ok(lost <= 1);
          chat.killAt(Infinity, false);
          const chosen = chat.saved.progress !== undefined;
          await answer(chat, whole(), later);
          const what = `step ${step} ${after ? "after" : "before"}`;
          const left = chat.texts.filter((text) => text !== undefined && !/^(?:⏳|…|a{159}… …)$/.test(text));
          assert.deepEqual(left, parts, what);
          const removed = chosen ? anew : later;
          const there = chat.texts.filter((text) => text !== undefined);
          assert.equal(there.length, parts.length + lost, `${what}: what no process knows of is all that is left`);
          assert.equal(typeof chat.saved.progress, removed ? "number" : "object", what);
        }
      }
    }
  });
}

Deno.test("Reply.finish() in a new message begins with the text for a notification, and then fills it", async () => {
  const chat = new Chat();
  const reply = chat.reply();
  await reply.open("⏳");
  chat.killAt(2, false); // The kill is after the choice and the message, and before its note.
  await assert.rejects(reply.finish(new RichText().add(`The **answer**\n\n${"is long ".repeat(99)}`), { anew: true }));
  assert.match(chat.texts[1] ?? "", /^The \*\*answer\*\* is long .{120,140}… …$/);
  assert.ok((chat.texts[1] ?? "").length <= 162);
});

Deno.test("Reply.finish() a second time names the place of the answer in a message that Telegram does not remove", async () => {
  const chat = new Chat();
  chat.keeps = true;
  await answer(chat, new RichText().add("done"), true);
  assert.deepEqual(chat.texts, ["✅ Answered below", "done"]);
});

Deno.test("Reply.pause() explains the pause in the first message and chooses nothing", async () => {
  const chat = new Chat();
  const reply = chat.reply();
  await reply.open("⏳");
  await reply.pause("later");
  assert.deepEqual([chat.texts, chat.saved], [["later"], { replies: [0] }]);
  await answer(chat, new RichText().add("done"), true);
  assert.deepEqual(chat.texts.filter((text) => text !== undefined), ["done"]);
});

Deno.test("Reply.finish() rewrites a message that a user has deleted", async () => {
  const chat = new Chat();
  const reply = chat.reply();
  await reply.open("⏳");
  delete chat.texts[0];
  await reply.finish(new RichText().add("answer"));
  assert.deepEqual(chat.texts.filter((text) => text !== undefined), ["answer"]);
  assert.deepEqual(chat.ids, [1]);
});

Deno.test("Reply.finish() omits everything beyond twenty messages, and reports it", async () => {
  const chat = new Chat();
  await answer(chat, new RichText().add("x".repeat(4096 * 25)));
  assert.equal(chat.texts.length, 21);
  assert.equal(chat.texts.at(-1), "(5 more parts are not shown; see vis conversations show)");
});

Deno.test("progressView() shows that a model is called again, until it thinks", () => {
  const progress = new QueryProgress();
  const add = (body: QueryEventBody): void => progress.take({ ...body, seq: 1, at: 0, queryId: "q", iteration: 1 });
  add({ type: "retrying", reason: "Cannot reach it", waitMs: 8_000, attempt: 3 });
  assert.match(progressView(progress, 1_000), /\n▸ retrying in 8 s \(try 3\): Cannot reach it$/);
  add({ type: "thinking", delta: "Hm" });
  assert.match(progressView(progress, 2_000), /\nHm$/);
});

Deno.test("progressView() shows the activity of the running block, then the answer as it arrives", () => {
  const progress = new QueryProgress();
  const view = (body: QueryEventBody, more: object = {}): string => {
    progress.take({ ...body, seq: 1, at: 0, queryId: "q", iteration: 2, ...more });
    return progressView(progress, 1_000).replace(/^⏳ step 2 · 1 s\n*/, "");
  };
  assert.equal(view({ type: "code", block: 0, delta: "\n// first" }), "");
  assert.equal(view({ type: "code", block: 1, delta: "second()" }), "");
  assert.equal(view({ type: "block_started", block: 0, code: "\n// first" }), "▸ // first");
  const action = { doing: "calling", done: "called", things: "functions", subject: "rlm.query" };
  assert.equal(view({ type: "host_call", block: 0, name: "rlm.query", phase: "start", action }), "▸ calling rlm.query");
  const child = { queryId: "k", parentQueryId: "q", iteration: 1 };
  assert.equal(view({ type: "thinking", delta: "of another query" }, child), "▸ calling rlm.query");
  assert.equal(view({ type: "host_call", block: 0, name: "rlm.query", phase: "end" }), "▸ // first");
  assert.equal(view({ type: "iteration_finished", outcome: "executed", reason: null, ms: 1 }), "");
  assert.equal(view({ type: "answer_draft", delta: "It is" }), "It is");
  assert.equal(view({ type: "iteration_finished", outcome: "refused", reason: "no", ms: 1 }), "");
  assert.equal(view({ type: "answer_delta", delta: "42" }), "42");
});
