import assert from "node:assert/strict";
import { final, replyJson, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const ESC = "\x1b";
const UP = "\x1b[A";
const slow = (text: string): ScriptedReply => ({ text, delayMs: 60_000 });

Deno.test("Esc ends the running query, and the screen continues", async () => {
  await withScreen([slow(final("never")), final("Second: yes")], {}, async ({ screen, engine }) => {
    screen.type(`first${ENTER}`);
    await screen.until("Esc cancels");
    screen.type(ESC);
    await screen.until("cancelled");
    await screen.until((text) => !text.includes("Esc cancels"));
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.reason, "cancelled");
    screen.type(`second${ENTER}`);
    await screen.until("Second: yes");
  });
});

Deno.test("a cancelled request keeps its unfinished answer on the screen", async () => {
  const text = final(`The first half ${"and so on ".repeat(20)}`);
  await withScreen([{ text, between: Promise.withResolvers().promise }], {}, async ({ screen }) => {
    screen.type(`first${ENTER}`);
    await screen.until("The first half");
    screen.type(ESC);
    assert.match(await screen.until(/^cancelled/m), /The first half/);
  });
});

Deno.test("a message sent while a query runs goes into its next iteration, once, and is shown as waiting until then", async () => {
  const gate = Promise.withResolvers<void>();
  const seen: string[] = [];
  const replies: ScriptedReply[] = [
    replyJson("await new Promise((wake) => setTimeout(wake, 300)); 1"),
    (request) => {
      seen.push(request.context);
      gate.resolve();
      return final("Done with both");
    },
  ];
  await withScreen(replies, {}, async ({ screen }) => {
    screen.type(`begin${ENTER}`);
    await screen.until("running code");
    screen.type(`and in German${ENTER}`);
    await screen.until("waits for the next step");
    await gate.promise;
    const text = await screen.until("Done with both");
    assert.match(text, /sent while running\n› and in German/);
    assert.ok(!text.includes("waits for the next step"));
    assert.match(seen[0]!, /and in German/);
  });
});

Deno.test("a message that no iteration could still read becomes the next query", async () => {
  const queued = Promise.withResolvers<void>();
  const replies = [{ text: final("First answer"), after: queued.promise }, final("Second answer")];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type(`one${ENTER}`);
    await screen.until("waiting for");
    screen.type(`two${ENTER}`);
    await screen.until("⏎ two");
    queued.resolve();
    const text = await screen.until("Second answer");
    assert.match(text, /First answer[^]*› two[^]*Second answer/);
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.deepEqual((await engine.conversations.queries(branch!)).map((query) => query.text), ["one", "two"]);
  });
});

Deno.test("waiting messages can be edited with Up, and return to the input if Esc ends the query", async () => {
  await withScreen([slow(final("never"))], {}, async ({ screen, engine }) => {
    screen.type(`one${ENTER}`);
    await screen.until("waiting for");
    screen.type(`second thought${ENTER}`);
    await screen.until("⏎ second thought");
    screen.type(UP);
    await screen.until((text) => !text.includes("⏎ second thought") && text.includes("second thought"));
    screen.type(ENTER);
    screen.type(`third${ENTER}`);
    await screen.until("⏎ third");
    screen.type(ESC);
    const text = await screen.until("cancelled");
    assert.match(text, /second thought\s+third/);
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!)).length, 1);
    assert.equal(engine.provider.requests.length, 1);
  });
});

Deno.test("Ctrl-C empties the input, then ends the query, and twice leaves", async () => {
  await withScreen([slow(final("never"))], {}, async ({ screen, code }) => {
    screen.type(`one${ENTER}`);
    await screen.until("waiting for");
    screen.type("a draft");
    await screen.until("a draft");
    screen.type("\x03");
    await screen.until((text) =>
      !text.includes("a draft") && text.includes("Ctrl-C again ends the running request, and quits")
    );
    screen.type("\x03");
    assert.equal(await code, 0);
  });
});

Deno.test("a message that cannot be sent is reported, and is in the input again", async () => {
  await withScreen([], { engine: { provider: undefined as never } }, async ({ screen, engine }) => {
    engine.conversations.ask = () => Promise.reject(new Error("Cannot write: the disk is full"));
    screen.type(`keep this${ENTER}`);
    const text = await screen.until("the disk is full");
    assert.match(text, /─\n +keep this/);
    assert.ok(!text.includes("› keep this"));
  });
});

Deno.test("a provider's refusal is shown in its own words", async () => {
  await withScreen([new Error("quota of this month is used up")], {}, async ({ screen }) => {
    screen.type(`go${ENTER}`);
    await screen.until(/quota of this month is used up/);
  });
});

Deno.test("the model's list of tasks is one line above the input, and Ctrl-T unfolds it until it is answered", async () => {
  const replies = [
    replyJson('$plan = [{task: "Read it", done: true}, {task: "Write it", done: false}, {task: "Test it"}]'),
    replyJson("$plan[1].done = true"),
    slow(final("never")),
    replyJson('const $plan = ["Again"]', { final: "Another: yes" }),
  ];
  await withScreen(replies, {}, async ({ screen }) => {
    screen.type(`Go${ENTER}`);
    await screen.until(/▸ Tasks: 2 of 3 · now: Test it \(Ctrl-T\)/);
    screen.type("\x14");
    await screen.until(/Tasks: 2 of 3 *\n ✓ Read it *\n ✓ Write it *\n ▸ Test it/);
    screen.type(ESC);
    await screen.until((text) =>
      text.includes("cancelled") && /Tasks: 2 of 3 done · ended *\n[^▸]*○ Test it/.test(text)
    );
    screen.type("\x14");
    await screen.until(/▸ Tasks: 2 of 3 done · ended \(Ctrl-T\)/);
    screen.type(`Next${ENTER}`);
    await screen.until((text) => text.includes("1 step") && text.includes("Another: yes") && !/Again|Tasks/.test(text));
  });
});
