import assert from "node:assert/strict";
import type { Route } from "playwright-core";
import { final } from "../../helpers/scripted_provider.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

/** The model thinks until it is cancelled. */
const endless = { text: final("never"), delayMs: 60_000 };

/** A browser keeps this many streams open to one server. */
const CONNECTIONS = 6;

inBrowser("a stream ends when another conversation is opened: however often, the next one is shown", {
  replies: [endless, endless],
}, async ({ page, rig }) => {
  const places: string[] = [];
  for (const request of ["One", "Two"]) {
    await page.locator("#new").click();
    await ask(page, request);
    await page.locator(".turn.running", { hasText: request }).waitFor();
    places.push(new URL(page.url()).hash);
  }
  for (let at = 0; at < CONNECTIONS + 2; at++) {
    await inPage(page, `void (location.hash = "${places[at % 2]}")`);
    await page.locator(".turn.running", { hasText: at % 2 === 0 ? "One" : "Two" }).waitFor();
  }
  assert.equal(await page.locator(".turn").count(), 1);
  assert.equal((await rig.engine.conversations.list({ limit: 9 })).filter(({ running }) => running).length, 2);
});

inBrowser("a request that is still being sent is not shown in the conversation that is opened meanwhile", {
  replies: [final("of the first"), final("of the second")],
}, async ({ page }) => {
  await ask(page, "First");
  await page.locator(".answer", { hasText: "of the first" }).waitFor();
  const first = new URL(page.url()).hash;
  await page.locator("#new").click();
  const [sent, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route("**/messages", async (route) => {
    sent.resolve();
    await gate.promise;
    await route.continue();
  });
  await ask(page, "Second");
  await sent.promise;
  const second = new URL(page.url()).hash;
  await inPage(page, `void (location.hash = "${first}")`);
  await page.locator(".answer", { hasText: "of the first" }).waitFor();
  const answered = page.waitForResponse("**/messages");
  gate.resolve();
  await answered;
  await page.locator("#list a", { hasText: "Second" }).getByText("1 request").waitFor();
  assert.equal(await page.locator(".turn").count(), 1);
  assert.ok(await page.locator("#cancel").isHidden());
  await inPage(page, `void (location.hash = "${second}")`);
  await page.locator(".answer", { hasText: "of the second" }).waitFor();
});

inBrowser("deletes a conversation while the page reads it, and reports nothing", {
  replies: [final("of the first")],
}, async ({ page, rig }) => {
  await ask(page, "First");
  await page.locator(".answer", { hasText: "of the first" }).waitFor();
  const id = /c=(.*)$/.exec(page.url())?.[1] ?? "";
  const read = Promise.withResolvers<Route>(), deleted = Promise.withResolvers<void>();
  await page.route(`**/api/v1/conversations/${id}`, async (route) => {
    if (route.request().method() === "GET") return read.resolve(route);
    await route.fulfill({ response: await route.fetch() });
    deleted.resolve();
  });
  await rig.engine.conversations.records.rename(await rig.engine.conversations.byId(id), "Another name");
  const held = await read.promise;
  const ended = held.request().response().catch(() => null);
  await page.locator("#actions > summary").click();
  await page.locator("#delete").click();
  await page.locator("#ask-yes").click();
  await deleted.promise;
  await held.continue().catch(() => {}); // The page may have ended the read.
  await ended;
  await page.locator(".hello").waitFor();
  assert.equal(await page.locator("#status.bad").count(), 0);
});

inBrowser("a conversation that another tab deletes is closed, and a renamed one gets its new name", {
  replies: [final("of the first"), final("of the second")],
}, async ({ page, tab, faults }) => {
  await ask(page, "First");
  await page.locator(".answer", { hasText: "of the first" }).waitFor();
  const other = await tab(`&${new URL(page.url()).hash.slice(1)}`);
  await other.locator(".answer", { hasText: "of the first" }).waitFor();
  await other.locator("#actions > summary").click();
  await other.locator("#rename").click();
  await other.locator("#ask-text").fill("Another name");
  await other.keyboard.press("Enter");
  await page.locator("#title", { hasText: "Another name" }).waitFor();
  await page.locator("#list a", { hasText: "Another name" }).waitFor();
  await page.locator("#request").fill("Not sent yet");
  await other.locator("#actions > summary").click();
  await other.locator("#delete").click();
  await other.locator("#ask-yes").click();
  await page.locator("#status.bad", { hasText: "does not find it" }).waitFor();
  await page.locator(".hello").waitFor();
  assert.equal(new URL(page.url()).hash, "");
  await page.locator("#list a", { hasText: "Another name" }).waitFor({ state: "detached" });
  assert.equal(await page.locator("#list a").count(), 1, "the conversation of the rig");
  assert.equal(await page.locator("#request").inputValue(), "Not sent yet");
  await page.locator("#send").click();
  await page.locator(".answer", { hasText: "of the second" }).waitFor();
  assert.ok(faults.every((fault) => fault.includes("404")), faults.join("\n"));
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});

const again = gated([final("The first answer"), final("The second answer")], { at: 1 });

inBrowser("runs a request that a branch has from another one again in a branch of its own, and opens it", {
  rig: { engine: { provider: again.provider } },
}, async ({ page }) => {
  await ask(page, "Say something");
  await page.locator(".answer", { hasText: "The first answer" }).waitFor();
  await page.getByRole("button", { name: "fork from here" }).click();
  await page.locator("#branch").waitFor();
  await page.locator(".answer", { hasText: "The first answer" }).waitFor();
  await page.getByRole("button", { name: "run again" }).click();
  await page.locator(".turn.running", { hasText: "Say something" }).waitFor();
  again.open();
  await page.locator(".answer", { hasText: "The second answer" }).waitFor();
  await page.locator("#branch option").nth(2).waitFor({ state: "attached" });
  assert.equal(await page.locator(".turn").count(), 1);
  for (const index of [0, 1]) {
    await page.locator("#branch").selectOption({ index });
    await page.locator(".answer", { hasText: "The first answer" }).waitFor();
    assert.equal(await page.locator(".turn").count(), 1);
  }
});
