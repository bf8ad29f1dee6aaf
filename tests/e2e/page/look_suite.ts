import assert from "node:assert/strict";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { TOKEN } from "../../channels/http/_rig.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

const PHONE = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true };
const final = (answer: string, answerType = "text"): string =>
  replyJson([], { final: { answer, answerType, confidence: "high" } });

const TABLE = [
  "| package | lines | changed | what it is for |",
  "| --- | ---: | --- | --- |",
  "| planner | 18,240 | 2026-11-02 | Parses what comes, plans the work and keeps what was found for those who ask later |",
  "",
  "- [x] sizes",
  "- [ ] owners",
].join("\n");

inBrowser("breaks no word of a table, which scrolls by itself", {
  replies: [final(TABLE, "markdown")],
  context: PHONE,
}, async ({ page }) => {
  await ask(page, "How big are they?");
  await page.locator(".answer td").first().waitFor(); // The parser of Markdown is loaded when it is needed.
  const lines = await inPage<readonly number[]>(
    page,
    `[...document.querySelectorAll("td:not(:last-child)")].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    }).slice(0, 3)`,
  );
  assert.deepEqual(lines, [1, 1, 1]);
  const height = await inPage<number>(page, "document.querySelector('tbody tr').offsetHeight");
  assert.ok(height < 140, `a row is ${height} pixels high`);
  assert.ok(
    await inPage<boolean>(page, "(({ scrollWidth: s, clientWidth: c }) => s > c)(document.querySelector('.table'))"),
  );
  assert.ok(await inPage<number>(page, "document.documentElement.scrollWidth") <= 360);
  await accessible(page, "who has keys alone scrolls it, too");
  assert.deepEqual(await page.locator(".task").allTextContents(), ["☑ sizes", "☐ owners"]);
});

inBrowser("shows all of a request that is typed, without a line break too, and is small again when it was sent", {
  replies: [final("It is read")],
  context: PHONE,
}, async ({ page }) => {
  const height = async (): Promise<number> => await inPage(page, "document.getElementById('request').offsetHeight");
  const empty = await height();
  await page.locator("#request").fill("What is wanted is told in many words. ".repeat(4));
  assert.ok(await height() > 2 * empty, "it grows with the lines that are broken");
  await page.locator("#request").fill("word\n".repeat(200));
  assert.ok(await height() <= 640 * .4 + 1, "and leaves room for the rest");
  await page.locator("#request").press("Enter");
  await page.locator(".answer", { hasText: "It is read" }).waitFor();
  assert.equal(await height(), empty);
});

const STEPS = [
  replyJson(`const rows = Array.from({ length: 60 }, (_, id) => ({ id, text: "row " + id }))\nrows`, {
    thinking: "I gather the rows and look at each of them. ".repeat(30),
  }),
  final("Done"),
];
/** The nudge of the last iteration shows its step before the reply arrives. */
const LAST_SHOWN = { budget: 2 };
const BELOW = "(({ scrollHeight: h, scrollTop: t, clientHeight: c }) => h - t - c)(document.getElementById('thread'))";
const follows = gated(STEPS, { at: 1 });

inBrowser("keeps the end in view while a query runs, whenever the browser reports its scrolls", {
  rig: { engine: { provider: follows.provider, settings: LAST_SHOWN } },
  context: PHONE,
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".running .step").nth(1).waitFor();
  await page.waitForFunction(`${BELOW} < 2`);
  assert.ok(await page.locator("#latest").isHidden());
  await inPage(
    page,
    `(() => {
      document.querySelector(".running").style.paddingBottom = "3000px"; // more came before the scroll is told of
      document.getElementById("thread").dispatchEvent(new Event("scroll"));
    })()`,
  );
  assert.ok(await page.locator("#latest").isHidden());
  follows.open();
  await page.locator(".done > footer").waitFor();
  await page.waitForFunction(`${BELOW} < 2`);
});

/** Resolves when the end is in view. */
const AT_END = `new Promise((resolve) => {
  const look = () => ${BELOW} < 2 ? resolve(null) : requestAnimationFrame(look);
  look();
})`;

/** Makes a page hidden until `reveal()`: a hidden page gets no frames, and observers of elements stay silent. */
const HIDDEN = `{
  const state = { hidden: true };
  const waiting = [];
  Object.defineProperty(document, "hidden", { get: () => state.hidden });
  const frame = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) => state.hidden ? waiting.push(() => frame(run)) : frame(run);
  for (const name of ["IntersectionObserver", "ResizeObserver"]) {
    window[name] = class extends window[name] {
      constructor(seen, options) {
        super((...facts) => state.hidden ? waiting.push(() => seen(...facts)) : seen(...facts), options);
      }
    };
  }
  window.reveal = () => {
    state.hidden = false;
    for (const run of waiting.splice(0)) run();
    document.dispatchEvent(new Event("visibilitychange"));
  };
}`;

inBrowser("a page that was opened in a hidden tab shows the newest end when the tab is shown", {
  replies: [final("word\n\n".repeat(80)), final("more\n\n".repeat(80))],
}, async ({ page, rig }) => {
  await ask(page, "Begin");
  await page.locator(".done > footer > span").waitFor();
  const id = await inPage<string>(page, "location.hash.slice(3)");
  const hidden = await page.context().newPage();
  await hidden.addInitScript(HIDDEN);
  await hidden.goto(`${rig.url}#token=${TOKEN}&c=${id}`);
  await hidden.locator(".done > footer > span").waitFor();
  await (await rig.post(`/api/v1/conversations/${id}/messages`, { request: "Go on" })).json();
  await inPage(hidden, "reveal()");
  await hidden.locator(".turn").nth(1).locator(".done > footer > span").waitFor();
  await inPage(hidden, AT_END);
  await hidden.locator("#latest").waitFor({ state: "hidden" });
});

const scrolledBy = (work: string): string =>
  `new Promise((resolve) => {
    const thread = document.getElementById("thread");
    thread.addEventListener("scroll", () => requestAnimationFrame(() => resolve(null)), { once: true });
    ${work};
  })`;

const stays = gated(STEPS, { at: 1 });

inBrowser("stays where one reads while a query runs", {
  rig: { engine: { provider: stays.provider, settings: LAST_SHOWN } },
  context: PHONE,
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".running .step").nth(1).waitFor();
  await page.waitForFunction(`${BELOW} < 2`);
  await inPage(page, scrolledBy("thread.scrollBy(0, -40)"));
  // Steps above grow. The browser keeps the text at the top in place, and the user has not asked to leave the end.
  await inPage(page, scrolledBy("document.querySelector('.asked').style.paddingTop = '30px'"));
  const top = await inPage<number>(page, "document.getElementById('thread').scrollTop");
  await inPage(page, "void (document.querySelector('.running').style.paddingBottom = '3000px')");
  stays.open();
  await page.locator(".done > footer").waitFor();
  const after = await inPage<number>(page, "document.getElementById('thread').scrollTop");
  assert.ok(Math.abs(after - top) <= 1 || after < top, `${top} → ${after}`);
  await page.locator("#latest").click();
  await page.waitForFunction(`${BELOW} < 2`);
});

inBrowser("keeps steps that the user opens in their place, also at the end of a conversation", {
  replies: [
    ...["a", "b", "c", "d"].map((name) => replyJson(`const ${name} = 1`, { thinking: "I look at rows. ".repeat(80) })),
    final("Done"),
  ],
  rig: { engine: { settings: { budget: 6 } } },
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".done > footer > span").waitFor();
  await inPage(page, AT_END);
  const top = async (): Promise<number> => (await page.locator(".work > summary").boundingBox())?.y ?? NaN;
  const before = await top();
  await page.locator(".work > summary").press("Enter");
  await page.locator(".step[data-step='4'] pre").first().waitFor({ state: "attached" });
  await inPage(page, "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
  assert.ok(await inPage<number>(page, BELOW) > 100, "the steps are longer than the window");
  assert.equal(await top(), before);
});

inBrowser("reports a missing conversation, and begins a new one", {
  replies: [final("Hello")],
  at: "&c=01a00000-0000-7000-8000-000000000000",
}, async ({ page, faults }) => {
  await page.locator("#status.bad", { hasText: "Cannot show this conversation" }).waitFor();
  await page.locator(".hello").waitFor();
  assert.equal(await inPage(page, "location.hash"), "");
  await ask(page, "Hi");
  await page.locator(".answer", { hasText: "Hello" }).waitFor();
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});

inBrowser("asks where browsers make no UUIDs: away from loopback and without TLS", {
  replies: [final("Hello")],
}, async ({ page }) => {
  await inPage(page, "void delete Crypto.prototype.randomUUID");
  await ask(page, "Hi");
  await page.locator(".answer", { hasText: "Hello" }).waitFor();
});

inBrowser("marks the search words, and no other text in brackets", {
  replies: [final("- [x] sizes of it\n- [ ] owners", "markdown")],
}, async ({ page }) => {
  await ask(page, "Which?");
  await page.locator(".done > footer").waitFor();
  await page.locator("#filter").fill("size");
  assert.match(await page.locator("#list .none").textContent() ?? "", /Enter searches all texts/);
  await page.locator("#filter").press("Enter");
  await page.locator(".hit mark").first().waitFor();
  assert.deepEqual(await page.locator(".hit mark").allTextContents(), ["sizes"]);
  assert.match(await page.locator(".hit p").textContent() ?? "", /\[x\] sizes/);
});

inBrowser("leaves room for the title next to branches on a phone", {
  replies: [final("Hello")],
  context: PHONE,
}, async ({ page }) => {
  await ask(page, "What is this, and what is it for, in words that somebody new to the project knows?");
  await page.locator(".done > footer").waitFor();
  const width = async (): Promise<number> => await inPage(page, "document.getElementById('title').offsetWidth");
  const alone = await width();
  await page.locator("#actions > summary").click();
  await page.locator("#fork").click();
  await page.locator("#branch").waitFor();
  assert.equal(await width(), alone);
  const right = await inPage<number>(page, "document.getElementById('branch').getBoundingClientRect().right");
  assert.ok(right <= PHONE.viewport.width, `the branches end at ${right} pixels`);
});

inBrowser("offers to try again where a conversation cannot be fetched, and shows no other's title", {
  replies: [final("Hello")],
  before: async ({ engine }) =>
    void await engine.conversations.create({ channel: "http", workspace: "/work", title: "An earlier one" }),
}, async ({ page, faults }) => {
  await ask(page, "Hi");
  await page.locator(".done > footer").waitFor();
  await page.route("**/api/**", (route) => route.abort());
  await page.locator("#list a", { hasText: "An earlier one" }).click();
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  assert.equal(await page.locator("#title").textContent(), "Conversation");
  assert.ok(await page.locator("#actions").isHidden());
  assert.equal(await page.locator("#list [aria-current]").count(), 0);
  await page.unroute("**/api/**");
  await again.click();
  await page.locator("#title", { hasText: "An earlier one" }).waitFor();
  (faults as string[]).length = 0; // The browser reports each request that failed.
});
