import assert from "node:assert/strict";
import type { Engine } from "../../helpers/engine.ts";
import { final, replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const AGAIN = "\x1br";
const slow = (text: string): ScriptedReply => ({ text, delayMs: 60_000 });

async function stored({ conversations }: Engine): Promise<readonly (readonly [string, string])[]> {
  const [listed] = await conversations.list({ limit: 1 });
  const queries = await conversations.queries(await conversations.byId(listed?.conversationId ?? ""));
  return queries.map(({ text, answer }) => [text, answer]);
}

Deno.test("/retry repeats the last request in the place of its last run, and the conversation continues", async () => {
  const replies = [final("First: one"), final("Second: two"), final("Third: three"), final("Fourth: four")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`question A${ENTER}`);
    await screen.until("First: one");
    screen.type(`question B${ENTER}`);
    await screen.until("Second: two");
    screen.type(`/retry${ENTER}`);
    const text = await screen.until("Third: three");
    assert.match(text, /› question A[^]*First: one[^]*asked again\n› question B[^]*Third: three/);
    assert.ok(!text.includes("Second: two"), text);
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(`question C${ENTER}`);
    await screen.until("Fourth: four");
    assert.deepEqual(await stored(engine), [
      ["question A", "First: one"],
      ["question B", "Third: three"],
      ["question C", "Fourth: four"],
    ]);
  });
});

Deno.test("the footer counts the steps and the cost of the new run instead of the run before", async () => {
  const replies = [replyJson("1"), replyJson("2"), final("First: one"), replyJson("1"), final("Again: two")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`question${ENTER}`);
    await screen.until("First: one");
    await screen.until(/walled · 3 steps/);
    screen.type(`/retry${ENTER}`);
    await screen.until("Again: two");
    await screen.until((now) => !now.includes("Esc cancels") && /walled · 2 steps/.test(now));
    const [listed] = await engine.conversations.list({ limit: 1 });
    const [query] = await engine.conversations.queries(await engine.conversations.byId(listed!.conversationId));
    assert.equal(query?.iterations, 2);
  });
});

Deno.test("a plan that is asked again is still called a plan, and a cancelled one is not to be carried out", async () => {
  await withScreen([final("First: one"), slow(final("never"))], {}, async ({ screen }) => {
    screen.type(`/plan split it${ENTER}`);
    await screen.until(/plan\n› split it[^]*First: one[^]*Send go to carry it out/);
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(AGAIN);
    await screen.until(/plan · asked again\n› split it/);
    screen.type("\x1b");
    const text = await screen.until(/cancelled · 0 steps · \d/);
    assert.doesNotMatch(text, /Send go/);
    assert.equal(text.match(/cancelled/g)?.length, 1, text);
  });
});

Deno.test("a retry in another window replaces the run on the screen", async () => {
  const clock = { now: Date.now, sleep: () => new Promise<void>((wake) => setTimeout(wake, 5)) };
  const replies = [final("First: one"), final("Second: two"), final("Third: three")];
  const before = async (engine: Engine): Promise<void> => {
    await engine.ask("question A");
    await engine.ask("question B");
  };
  await withScreen(replies, { before, place: { continue: true }, parts: { clock } }, async ({ screen, engine }) => {
    await screen.until("Second: two");
    const last = (await engine.conversations.queries(engine.branch)).at(-1);
    await engine.conversations.retry(last?.queryId ?? "", { signal: new AbortController().signal, emit: () => {} });
    const text = await screen.until("Third: three");
    assert.doesNotMatch(text, /Second: two/);
    assert.match(text, /› question A[^]*First: one[^]*› question B[^]*Third: three/);
  });
});

Deno.test("Alt-M continues a request that stopped at its step limit, or explains why none can be continued", async () => {
  const replies = [replyJson("1 + 1"), final("Half: one"), final("Whole: two")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`/steps 1${ENTER}`);
    screen.type(`the question${ENTER}`);
    await screen.until("Alt-M: 10 more steps");
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type("\x1bm");
    assert.match(await screen.until("Whole: two"), /Half: one[^]*› 10 more steps[^]*Whole: two/);
    await screen.until((now) => !now.includes("Esc cancels"));
    assert.match(engine.context(2), /^\[iter 1\/10\]/);
    screen.type(`/more${ENTER}`);
    await screen.until(/it did not stop at its step limit\s+\(answered\)/);
  });
});

Deno.test("Alt-R repeats a cancelled or failed request", async () => {
  const replies = [slow(final("never")), new Error("quota of this month is used up"), final("At last: yes")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`the question${ENTER}`);
    await screen.until("waiting for");
    screen.type("\x1b");
    await screen.until((text) => /cancelled/.test(text) && !text.includes("Esc cancels"));
    screen.type(AGAIN);
    const failed = await screen.until(/quota of this month is used up/);
    assert.ok(!failed.includes("cancelled"), failed);
    await screen.until((text) => !text.includes("Esc cancels"));
    screen.type(AGAIN);
    const text = await screen.until("At last: yes");
    assert.ok(!text.includes("quota"), text);
    assert.deepEqual(await stored(engine), [["the question", "At last: yes"]]);
  });
});

Deno.test("a request of a reopened conversation can be repeated, and its former iterations leave the screen", async () => {
  const replies = [replyJson("1 + 41"), final("Before: 42"), final("After: 42")];
  const before = async (engine: Engine): Promise<void> => void await engine.ask("How many?");
  await withScreen(replies, { before, place: { continue: true } }, async ({ screen, engine }) => {
    await screen.until("→ 42");
    screen.type(AGAIN);
    const text = await screen.until("After: 42");
    assert.match(text, /asked again\n› How many\?/);
    assert.ok(!/→ 42|Before: 42/.test(text), text);
    assert.equal((await engine.conversations.queries(engine.branch)).length, 1);
  });
});

Deno.test("an inherited request is repeated in a branch of its own, in which the screen continues", async () => {
  const replies = [final("Before: one"), final("After: two"), final("Later: three")];
  const before = async (engine: Engine): Promise<void> => {
    const { queryId } = await engine.ask("How many?");
    await engine.conversations.fork({ queryId, position: null });
  };
  await withScreen(replies, { before, place: { continue: true } }, async ({ screen, engine }) => {
    await screen.until("Before: one");
    screen.type(AGAIN);
    await screen.until("After: two");
    await screen.until((text) => !text.includes("Esc cancels"));
    screen.type(`And now?${ENTER}`);
    await screen.until("Later: three");
    const branches = await engine.conversations.branches(engine.branch.conversationId);
    const texts = await Promise.all(branches.map(async ({ branchId }) => {
      const queries = await engine.conversations.queries(await engine.conversations.byId(branchId));
      return queries.map(({ answer }) => answer).join(" | ");
    }));
    assert.ok(texts.includes("Before: one") && texts.includes("After: two | Later: three"), texts.join("\n"));
  });
});

Deno.test("retrying without a request, or while a query runs, is reported and does nothing", async () => {
  await withScreen([slow(final("never"))], {}, async ({ screen, engine }) => {
    screen.type(AGAIN);
    await screen.until("This conversation has no request yet");
    screen.type(`one${ENTER}`);
    await screen.until("waiting for");
    screen.type(`/retry${ENTER}`);
    await screen.until("Cannot run the last request again: a request is running");
    assert.equal(engine.provider.requests.length, 1);
  });
});

Deno.test("a request that cannot be repeated is reported, and the previous run stays on the screen", async () => {
  await withScreen([final("First: one")], {}, async ({ screen, engine }) => {
    screen.type(`question A${ENTER}`);
    await screen.until("First: one");
    await screen.until((text) => !text.includes("Esc cancels"));
    engine.conversations.retry = () => Promise.reject(new Error("Cannot write: the disk is full"));
    screen.type(AGAIN);
    assert.match(await screen.until("the disk is full"), /› question A[^]*First: one[^]*the disk is full/);
  });
});
