import assert from "node:assert/strict";
import type { Rig } from "../../channels/http/_rig.ts";
import { fillLong } from "../../helpers/fill_long.ts";
import { inBrowser, inPage } from "./_browser.ts";

/** Elements that may be on the page at a time, whatever it shows. */
const MAX_ELEMENTS = 3000;
/** A page that drew all 5000 would stand still for longer; other tests run beside this one. */
const FRAME_MS = 1000;

const longRun = { branch: "" };

async function fill({ engine }: Rig): Promise<void> {
  longRun.branch = await fillLong(engine, 200);
}

inBrowser("stays quick with a conversation of 5000 iterations", { before: fill }, async ({ page }) => {
  await inPage(page, `void (location.hash = "c=${longRun.branch}")`);
  await page.locator(".answer", { hasText: "read 5000" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 30);
  await page.locator(".turn.last .work > summary").click();
  await page.locator(".step[data-step='1']").waitFor();
  const longest = await inPage<number>(page, LONGEST_TASK);
  for (const number of [2500, 5000, 40]) {
    await page.locator(".goto input").fill(String(number));
    await page.locator(".goto input").press("Enter");
    await page.locator(`.step[data-step='${number}'] pre`, { hasText: `read(${number})` }).waitFor();
    assert.ok(await page.locator(`.step[data-step='${number}']`).isVisible());
    const elements = await inPage<number>(page, "document.querySelectorAll('*').length");
    assert.ok(elements < MAX_ELEMENTS, `${elements} elements at step ${number}`);
  }
  await inPage(page, "new Promise((done) => setTimeout(done, 100))");
  const worst = await inPage<number>(page, "globalThis.longestTask()");
  assert.ok(longest >= 0 && worst < FRAME_MS, `a task took ${worst} ms`);
  await page.locator(".step[data-step='40']").getByRole("button", { name: "inspect step 40" }).click();
  await page.locator("#viewer-title", { hasText: "Step 40 of 5000" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".earlier").click();
  await page.locator(".turn", { hasText: "Part 150" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 60);
});

/** The longest task from now on, as `longestTask()`. */
const LONGEST_TASK = `(() => {
  const seen = { ms: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.ms = Math.max(seen.ms, duration);
  }).observe({ type: "longtask" });
  globalThis.longestTask = () => seen.ms;
  return 0;
})()`;
