import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { TOKEN } from "../../channels/http/_rig.ts";
import { until } from "../../helpers/until.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage, openVariables } from "./_browser.ts";

const replies = [
  replyJson(["let rows = [1, 2]", "const total = rows[0] + rows[1]"], { thinking: "I add them" }),
  replyJson("rows = [2, 3]; missing()"),
  replyJson([], {
    final: {
      answer:
        "# Sum\n\nIt is **{{total}}**, see `total` and https://example.org\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> so",
      answerType: "markdown",
      confidence: "high",
    },
  }),
  { text: "", delayMs: 60_000 },
];

const MARKED = `new Promise((resolve) => {
  new PerformanceObserver(() => resolve(performance.getEntriesByName("vis-usable").length))
    .observe({ type: "mark", buffered: true });
})`;

type Scheme = "dark" | "light";
const SETTLED = "Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => 0)";

async function walk(page: Page, colours: readonly Scheme[]): Promise<void> {
  const check = async (what: string): Promise<void> => {
    for (const colorScheme of colours) {
      await page.emulateMedia({ colorScheme });
      await accessible(page, `${what}, ${colorScheme}`);
    }
  };
  await check("blank");
  await page.keyboard.press("Control+/");
  await page.locator("#viewer kbd").first().waitFor();
  await check("keys");
  await page.keyboard.press("Escape");
  await ask(page, "Add the rows");
  await page.locator(".answer h3", { hasText: "Sum" }).waitFor();
  await page.locator(".work > summary").click();
  await page.locator(".step .result .mark.bad").waitFor();
  await page.locator("[data-step='1'] .result > summary").first().click();
  await check("steps");
  await page.getByRole("button", { name: "inspect step 1" }).click();
  for (const name of ["Sent", "Received", "Details"]) {
    await page.getByRole("tab", { name }).click();
    await check(name);
  }
  await page.keyboard.press("Escape");
  await openVariables(page);
  await page.locator(".variable summary").first().click();
  await page.locator(".versions h3").first().waitFor();
  await check("variables");
  await page.keyboard.press("Escape");
  const options = page.locator("#options"); // Only a narrow window folds the options.
  if (await options.isVisible()) await options.click();
  await page.locator("#limits > summary").click();
  await check("limits");
  await page.keyboard.press("Escape");
  await page.locator("#actions > summary").click();
  await check("menu");
  await page.locator("#delete").click();
  await check("question");
  await page.keyboard.press("Escape");
  await ask(page, "And again");
  await page.locator(".running").waitFor();
  await check("running");
  await page.keyboard.press("Escape");
  await page.locator(".answer.failed").waitFor();
  await check("cancelled");
}

inBrowser("is accessible in dark and light", { replies, context: { colorScheme: "dark" } }, async ({ page }) => {
  await walk(page, ["dark", "light"]);
});

inBrowser("is accessible and not wider than a phone", {
  replies,
  context: { viewport: { width: 360, height: 700 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  await walk(page, ["light"]);
  const wide = "document.documentElement.scrollWidth";
  assert.ok(await inPage<number>(page, wide) <= 360, "nothing stands out of the window");
  const poor = await inPage<readonly string[]>(
    page,
    `[...document.querySelectorAll(
      "#composer :is(button, summary, select), #frame header :is(button, summary), .done > footer button",
    )]
      .filter((one) => one.checkVisibility() &&
        (one.scrollWidth > one.clientWidth || one.offsetHeight < 40 || one.closest(".menu") && one.offsetWidth < 40))
      .map((one) => one.textContent)`,
  );
  assert.deepEqual(poor, [], "each button shows its text and fits a finger");
  const [options = 0, room = 0] = await inPage<readonly number[]>(
    page,
    "(({ scrollWidth: s, clientWidth: c }) => [s, c])(document.querySelector('.hint'))",
  );
  assert.ok(options <= room, "the choices of a request do not scroll sideways");
  await page.locator("#menu").click();
  await page.locator("#list a").first().waitFor();
  await inPage(page, SETTLED);
  await accessible(page, "the list of conversations");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#menu").getAttribute("aria-expanded"), "false");
});

inBrowser("opens the list by a tap without the keyboard of a phone, and for Ctrl+K with it", {
  context: { viewport: { width: 360, height: 700 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  const focused = "document.activeElement.id";
  const menu = page.locator("#menu");
  await menu.tap();
  await page.locator("#filter").waitFor();
  await inPage(page, SETTLED);
  assert.equal(await menu.getAttribute("aria-expanded"), "true");
  assert.notEqual(await inPage(page, focused), "filter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await until(async () => await inPage(page, focused) === "filter");
});

inBrowser("opens the list with the focus in its filter for a mouse", {
  context: { viewport: { width: 360, height: 700 } },
}, async ({ page }) => {
  await page.locator("#menu").click();
  await until(async () => await inPage(page, "document.activeElement.id") === "filter");
});

inBrowser("is used by the keyboard alone", { replies: replies.slice(0, 3) }, async ({ page }) => {
  await inPage(page, MARKED);
  assert.equal(await inPage(page, "document.activeElement.id"), "request");
  await page.keyboard.type("Add the rows");
  await page.keyboard.press("Enter");
  await page.locator(".answer h3").waitFor();
  await page.locator("#thread").focus();
  const reached = new Set<string>();
  for (let at = 0; at < 12; at++) {
    await page.keyboard.press("Tab");
    reached.add(await inPage<string>(page, "document.activeElement.textContent.trim().slice(0, 20)"));
  }
  for (const name of ["3 steps", "Inspect", "Fork from here", "Run again", "Send"]) {
    assert.ok(reached.has(name), `${name} is reached: ${[...reached]}`);
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowDown");
  assert.equal(await inPage(page, "document.activeElement.getAttribute('href')?.startsWith('#c=')"), true);
  await page.locator("#theme").press("Enter");
  const theme = await inPage<string>(page, "document.documentElement.dataset.theme");
  await page.reload();
  await page.locator("#frame").waitFor();
  assert.equal(await inPage(page, "document.documentElement.dataset.theme"), theme);
});

inBrowser(
  "marks the moment from which it can be used, and loads its files from its own server",
  {},
  async ({ page, rig }) => {
    assert.equal(await inPage(page, MARKED), 1);
    const names = "[...performance.getEntriesByType('resource')].map((one) => one.name)";
    const files = (await inPage<string[]>(page, names)).filter((name) => name.includes("/assets/"));
    assert.ok(
      files.some((name) => name.endsWith("/app.js")) && files.length > 6 &&
        files.every((name) => name.startsWith(rig.url)),
      files.join("\n"),
    );
  },
);

inBrowser("takes a new token from a link opened in its tab", {}, async ({ page, rig, faults }) => {
  await inPage(page, "sessionStorage.clear(), location.reload()");
  const field = page.locator("input[type=password]");
  await field.waitFor();
  await inPage(page, `location.hash = "token=${TOKEN}"`);
  await page.locator("#frame").waitFor();
  assert.equal(new URL(page.url()).hash, "", "the token does not stay in the address");
  await page.goto(`${rig.url}#token=${"x".repeat(43)}`);
  await page.getByText("The server rejected this token").waitFor();
  assert.equal(await inPage(page, "sessionStorage.length"), 0);
  assert.ok(faults.every((fault) => fault.includes("401")), faults.join("\n"));
  (faults as string[]).length = 0;
});
