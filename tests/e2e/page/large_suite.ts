import assert from "node:assert/strict";
import type { CDPSession } from "playwright-core";
import type { Rig } from "../../channels/http/_rig.ts";
import { fillLong } from "../../helpers/fill_long.ts";
import { inBrowser, inPage } from "./_browser.ts";

const MAX_ELEMENTS = 3000;
/** The limit for the processor time of a jump. A page that drew all 5000 steps would need more. */
const JUMP_MS = 1000;

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
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  for (const number of [2500, 5000, 40]) {
    const before = await workedMs(session);
    await page.locator(".goto input").fill(String(number));
    await page.locator(".goto input").press("Enter");
    await page.locator(`.step[data-step='${number}'] pre`, { hasText: `read(${number})` }).waitFor();
    assert.ok(await page.locator(`.step[data-step='${number}']`).isVisible());
    const worked = await workedMs(session) - before;
    assert.ok(worked < JUMP_MS, `step ${number} took ${worked} ms`);
    const elements = await inPage<number>(page, "document.querySelectorAll('*').length");
    assert.ok(elements < MAX_ELEMENTS, `${elements} elements at step ${number}`);
  }
  await page.locator(".step[data-step='40']").getByRole("button", { name: "inspect step 40" }).click();
  await page.locator("#viewer-title", { hasText: "Step 40 of 5000" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".earlier").click();
  await page.locator(".turn", { hasText: "Part 150" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 60);
});

/** Returns the milliseconds of processor time that the page has used so far, independent of other work on the
 * machine. */
async function workedMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? NaN) * 1000;
}
