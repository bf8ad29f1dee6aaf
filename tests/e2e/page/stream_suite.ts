import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

const steps = [replyJson("const kept = 41", { thinking: "A part" }), final("It is {{kept}}")];
const first = gated(steps, { at: 1 });

inBrowser(
  "goes on with a stream after a reload",
  { rig: { engine: { provider: first.provider } } },
  async ({ page }) => {
    await ask(page, "Begin");
    await page.locator(".running .step .result", { hasText: "41" }).waitFor();
    await page.reload();
    await page.locator(".running .step .result", { hasText: "41" }).waitFor();
    assert.equal(await page.locator(".turn").count(), 1);
    assert.equal(await page.locator(".thinking").textContent(), "A part");
    assert.ok(await page.locator("#cancel").isVisible());
    first.open();
    await page.locator(".answer", { hasText: "It is 41" }).waitFor();
    await page.locator("#cancel").waitFor({ state: "hidden" });
  },
);

const second = gated([...steps, final("From the other tab")], { at: 1 });

inBrowser(
  "shows the same in two tabs, and either continues",
  { rig: { engine: { provider: second.provider } } },
  async (
    { page, tab },
  ) => {
    await ask(page, "Begin");
    await page.locator(".running .step .result").waitFor();
    const other = await tab(`&${new URL(page.url()).hash.slice(1)}`);
    await other.locator(".running .step .result", { hasText: "41" }).waitFor();
    second.open();
    for (const one of [page, other]) await one.locator(".answer", { hasText: "It is 41" }).waitFor();
    await ask(other, "Go on");
    await page.locator(".answer", { hasText: "From the other tab" }).waitFor();
    assert.deepEqual([await page.locator(".turn").count(), await other.locator(".turn").count()], [2, 2]);
  },
);

const elsewhere = gated([...steps, final("The next one")], { at: 1 });

inBrowser("shows a request that another process runs, while it runs and once it is over", {
  rig: { engine: { provider: elsewhere.provider } },
}, async ({ page, rig: { engine } }) => {
  await inPage(page, `void (location.hash = "c=${engine.branch.conversationId}")`);
  await page.locator("#thread .wait", { hasText: "No requests yet" }).waitFor();
  assert.deepEqual(await page.locator("#folder").textContent(), "work");
  const first = engine.ask("Begin");
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  await page.locator("#activity", { hasText: "runs elsewhere" }).waitFor();
  assert.deepEqual([await page.locator("#cancel").isVisible(), await page.locator("#send").isEnabled()], [true, true]);
  elsewhere.open();
  await page.locator(".answer", { hasText: "It is 41" }).waitFor();
  await first;
  await page.locator("#cancel").waitFor({ state: "hidden" });
  await engine.ask("Go on");
  await page.locator(".turn.last .answer", { hasText: "The next one" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 2);
  await page.locator("#list small", { hasText: "2 requests · work" }).waitFor();
});

const cancelled = gated(steps, { at: 1 });

inBrowser("cancels a request that another process runs", {
  rig: { engine: { provider: cancelled.provider } },
}, async ({ page, rig: { engine } }) => {
  const asked = engine.ask("Begin");
  await page.locator("#list li a").first().click();
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  await page.locator("#cancel").click();
  await page.locator(".answer.stopped", { hasText: "Cancelled" }).waitFor();
  assert.equal((await asked).reason, "cancelled");
});

const proxied = gated(steps, { at: 1 });

inBrowser("continues a stream once a proxy reaches the server again", {
  rig: { engine: { provider: proxied.provider } },
}, async ({ page, faults }) => {
  await ask(page, "Begin");
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  const refusals = [502, 503, 429];
  await page.route("**/events", async (route) => {
    const status = refusals.shift();
    if (status === undefined) await route.continue();
    else await route.fulfill({ status });
  });
  await page.reload();
  await page.locator("#status.bad", { hasText: "Connection lost. Reconnecting…" }).waitFor();
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  proxied.open();
  await page.locator(".answer", { hasText: "It is 41" }).waitFor();
  assert.ok(faults.every((fault) => /50[23]|429/.test(fault)), faults.join("\n"));
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});

const third = gated([...steps, final("Unseen")], { at: 1 });

inBrowser("another conversation can be opened while one runs, and it is there on return", {
  rig: { engine: { provider: third.provider } },
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".running .step .result").waitFor();
  const running = new URL(page.url()).hash;
  await page.locator("#new").click();
  await page.locator(".hello").waitFor();
  assert.ok(await page.locator("#cancel").isHidden());
  await inPage(page, `void (location.hash = "${running}")`);
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  third.open();
  await page.locator(".answer", { hasText: "It is 41" }).waitFor();
});

const written = Promise.withResolvers<void>();
const draft = `It has four lines, ${"and so on ".repeat(20)}`;

inBrowser("shows an answer while it is written, and removes it if it is refused", {
  replies: [
    { text: replyJson("throw new Error('no')", { final: draft }), between: written.promise },
    { text: final("It has seven lines") },
  ],
}, async ({ page }) => {
  await ask(page, "How many?");
  await page.locator(".answer .draft", { hasText: "It has four lines" }).waitFor();
  written.resolve();
  await page.locator(".answer", { hasText: "It has seven lines" }).waitFor();
  assert.equal(await page.locator(".answer", { hasText: "four lines" }).count(), 0);
  await page.locator("#cancel").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".draft").count(), 0);
});

inBrowser("keeps the unfinished answer of a request that is cancelled", {
  replies: [{ text: final(draft), between: Promise.withResolvers().promise }],
}, async ({ page }) => {
  await ask(page, "How many?");
  await page.locator(".answer .draft", { hasText: "It has four lines" }).waitFor();
  await page.locator("#request").press("Escape");
  await page.locator(".answer.stopped", { hasText: "Cancelled" }).waitFor();
  await page.locator(".answer .draft", { hasText: "It has four lines" }).waitFor();
});

const marked = Promise.withResolvers<void>();
const parts = ["# Sizes", "The **first** paragraph.", "- one\n- two", "```ts\nlet a = 1;\n```", "The end. ".repeat(30)];

inBrowser("draws an answer as Markdown while it is written, its finished parts once", {
  replies: [{ text: final(`${parts.join("\n\n")}\n\nLast.`), between: marked.promise }],
}, async ({ page }) => {
  await ask(page, "How large?");
  const draft = page.locator(".answer .draft");
  await draft.locator("h3", { hasText: "Sizes" }).waitFor();
  await draft.locator("strong", { hasText: "first" }).waitFor();
  await draft.locator("li", { hasText: "two" }).waitFor();
  await inPage(page, "void (document.querySelector('.draft h3').dataset.kept = 'yes')");
  await accessible(page, "a draft");
  marked.resolve();
  await page.locator(".answer p", { hasText: "Last." }).waitFor();
  await page.locator("#cancel").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".answer li").count(), 2);
});
