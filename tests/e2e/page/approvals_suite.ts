import assert from "node:assert/strict";
import type { ApprovalAnswer } from "../../../src/domain/query/approval.ts";
import type { Page } from "playwright-core";
import { abortable } from "../../../src/domain/kit/concurrency.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import type { Rig } from "../../channels/http/_rig.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

const rig = { engine: { extensions: [ASKING] } };
const asks = (args = ""): string => replyJson(`const said = await asking.open(${args})`);
const SAID = final("{{said.allowed}} {{said.reason}}");
const LONG = `"doors", "open the doors of ".repeat(9), "https://example.org/".repeat(9)`;
const ADDED = Array.from({ length: 50 }, (_, n) => `+KEY=${n + 1}`).join("\\n");
const CHANGE =
  `"doors", "change .env", "", true, "--- .env\\n+++ .env\\n@@ -1,1 +1,50 @@\\n-[not shown]\\n${ADDED}\\n"`;

const question = (page: Page) => page.locator(".question");
const press = async (page: Page, name: RegExp): Promise<void> =>
  await question(page).getByRole("button", { name }).click();

inBrowser("shows an extension's question, and a typed key of other text is no answer", {
  rig,
  replies: [asks(), SAID],
}, async ({ page }) => {
  await ask(page, "Begin");
  await question(page).getByText("Allow Vis to open doors?").waitFor();
  assert.equal(await question(page).getByText("It is locked.").count(), 1);
  assert.equal(await inPage(page, "document.activeElement.id"), "request");
  await page.locator("#list .waits small", { hasText: /^waiting for you/ }).waitFor();
  await press(page, /^Yes, and doors in this conversation$/);
  await page.locator(".done > footer", { hasText: "fork" }).waitFor();
  await page.locator("#list .waits").waitFor({ state: "detached" });
  assert.equal(await question(page).count(), 0);
});

inBrowser("shows the whole change of a question as a diff, and one main button", {
  rig,
  replies: [asks(CHANGE), SAID],
}, async ({ page }) => {
  await ask(page, "Begin");
  await question(page).waitFor();
  const lines = question(page).locator(".change .lines > div");
  assert.deepEqual([await lines.count(), await lines.last().innerText()], [51, "50\t+\tKEY=50"]);
  assert.deepEqual(await page.locator(".primary:visible").allInnerTexts(), ["Yes, for this call onlyy"]);
  await accessible(page, "a question with a change");
  await press(page, /^No/);
  await page.locator(".answer", { hasText: "false" }).waitFor();
});

inBrowser("takes a letter as the answer while the request is empty, and the beginning of a text as text", {
  rig,
  replies: [asks(), asks('"windows"'), final("{{said.reason}}")],
}, async ({ page }) => {
  await page.clock.install();
  await ask(page, "Begin");
  await question(page).getByText("open doors").waitFor();
  const input = page.locator("#request");
  assert.match(await input.getAttribute("placeholder") ?? "", /^Answer with y, c, a or n, or refuse with a text/);
  await page.clock.pauseAt(Date.now() + 60_000); // A letter counts only some time after the question.
  await input.pressSequentially("no");
  await page.clock.runFor(1_000);
  await question(page).getByText("open doors").waitFor();
  await input.fill("");
  await input.press("y");
  await page.clock.runFor(1_000);
  await question(page).getByText("open windows").waitFor();
  assert.equal(await input.inputValue(), "");
  await page.locator("#thread").focus();
  await page.clock.runFor(1_000);
  await page.keyboard.press("n");
  await page.clock.runFor(1_000);
  await page.clock.resume();
  await page.locator(".answer", { hasText: "the user said no" }).waitFor();
});

inBrowser("refuses a question with the text that is sent, which the next step reads", {
  rig,
  replies: [asks(), SAID],
}, async ({ page, rig }) => {
  await ask(page, "Begin");
  await question(page).waitFor();
  const send = page.getByRole("button", { name: "Refuse and send" });
  await send.click();
  await page.locator("#request").press("Enter");
  assert.equal(await question(page).count(), 1, "an empty input answers nothing");
  await page.locator("#request").fill("Use the window");
  await send.click();
  await page.locator(".answer", { hasText: "false the user said no" }).waitFor();
  assert.match(rig.engine.provider.requests[1]?.context ?? "", /The user says meanwhile: Use the window/);
  await page.locator(".meanwhile", { hasText: "Use the window" }).getByText("read by step 2").waitFor();
  assert.equal(await page.locator(".turn").count(), 1);
  assert.equal(await page.locator("#send").textContent(), "Send");
});

const SCOPES = "commands that change the folder /srv/data, network for npm ci and network for npx prisma";

inBrowser("names a long permission once, above short answers", {
  rig,
  replies: [asks(`"${SCOPES}"`), SAID],
}, async ({ page }) => {
  await ask(page, "Begin");
  await question(page).getByText(`Answers for longer allow: ${SCOPES}`).waitFor();
  await accessible(page, "a question with a long permission");
  await press(page, /^Yes, and all of this in this conversation$/);
  await page.locator(".answer", { hasText: "true" }).waitFor();
});

inBrowser("offers no lasting answer to a question that is asked every time", {
  rig,
  replies: [asks('"doors", "open doors", "", false'), SAID],
}, async ({ page }) => {
  await ask(page, "Begin");
  await question(page).waitFor();
  for (const name of [/and doors in this/, /from now on/]) {
    assert.equal(await question(page).getByRole("button", { name }).count(), 0);
  }
  await press(page, /^Yes, for this call only$/);
  await page.locator(".answer", { hasText: "true" }).waitFor();
});

inBrowser("asks again after a reload and in a second tab; the first answer counts, with its reason", {
  rig,
  replies: [asks(), SAID],
}, async ({ page, tab }) => {
  await ask(page, "Begin");
  await question(page).waitFor();
  await page.reload();
  await question(page).waitFor();
  const other = await tab(`&c=${await inPage<string>(page, "location.hash.slice(3)")}`);
  await question(other).getByLabel("Why not").fill("not today");
  await press(other, /^No$/);
  for (const one of [page, other]) {
    await one.locator(".answer", { hasText: /false the user said no and wrote .*not today/ }).waitFor();
    assert.equal(await question(one).count(), 0);
    await one.locator(".work > summary").click();
    await one.locator(".said", { hasText: "Allow Vis to open doors? no: not today" }).waitFor();
  }
});

const later = gated([asks(), SAID], { at: 1 });

inBrowser("the title of the tab says that a question waits, and the step keeps the question with its answer", {
  rig: { engine: { ...rig.engine, provider: later.provider } },
}, async ({ page }) => {
  await ask(page, "Begin");
  await question(page).waitFor();
  assert.match(await page.title(), /^Waiting for you · /);
  await page.locator(".running .step .now", { hasText: "asking.open" }).waitFor();
  assert.ok(await page.locator(".running .step pre code").isHidden(), "the call tells the work; its code is folded");
  await press(page, /^Yes, for this call only$/);
  await page.locator(".running .said", { hasText: "Allow Vis to open doors? yes, for this call only" }).waitFor();
  assert.doesNotMatch(await page.title(), /^Waiting/);
  later.open();
  await page.locator(".done > footer > span").waitFor();
});

inBrowser(
  "fits a long question into a narrow window, for the keyboard and a screen reader too, until it is cancelled",
  {
    rig,
    replies: [asks(LONG)],
    context: { viewport: { width: 360, height: 640 } },
  },
  async ({ page }) => {
    await ask(page, "Begin");
    await question(page).waitFor();
    assert.ok(await inPage<number>(page, "document.documentElement.scrollWidth") <= 360);
    await accessible(page, "a question");
    const heights = "[...document.querySelectorAll('#send, #cancel')].map((one) => one.offsetHeight)";
    assert.equal(new Set(await inPage<number[]>(page, heights)).size, 1, "each button of the input has one line");
    assert.ok(await inPage<number>(page, "document.querySelector('#request').offsetWidth") > 300, "the input has room");
    await page.getByRole("button", { name: /cancel|stop/i }).click();
    await question(page).waitFor({ state: "detached" });
  },
);

/** Begins a request as another process does, so the server of the page does not run the request. */
async function elsewhere({ engine: { conversations, branch } }: Rig): Promise<void> {
  await conversations.ask(branch, "Begin", {
    ...{ signal: new AbortController().signal, emit: () => {} },
    approve: (_question, signal) => abortable(Promise.withResolvers<ApprovalAnswer>().promise, signal),
  });
}

inBrowser("answers the question of a request that another process runs", {
  rig,
  replies: [asks(), SAID],
}, async ({ page, rig }) => {
  const asked = elsewhere(rig);
  await page.locator("#list li a, #list li button").first().click();
  await question(page).getByText("Allow Vis to open doors?").waitFor();
  await page.locator("#activity", { hasText: /^Waiting for your answer · .*runs elsewhere/ }).waitFor();
  assert.match(await page.title(), /^Waiting for you · /);
  await question(page).getByLabel("Why not").fill("not today");
  await press(page, /^No$/);
  await asked;
  await page.locator(".answer", { hasText: /false the user said no and wrote .*not today/ }).waitFor();
  assert.equal(await question(page).count(), 0);
});

inBrowser("refuses with a text in a request that another process runs", {
  rig,
  replies: [asks(), SAID],
}, async ({ page, rig }) => {
  const asked = elsewhere(rig);
  await page.locator("#list li a, #list li button").first().click();
  await question(page).waitFor();
  await ask(page, "Use the window");
  await asked;
  await page.locator(".answer", { hasText: "false the user said no" }).waitFor();
  await page.locator(".meanwhile", { hasText: "Use the window" }).getByText("read by step 2").waitFor();
});
