import assert from "node:assert/strict";
import type { Rig } from "../channels/http/_rig.ts";
import { begun, block, iterationEnd, newIteration, newQuery, queryEnd } from "../conformance/store_fixtures.ts";
import { inBrowser, inPage } from "./_browser.ts";

const ITERATIONS = 5000;
const QUERIES = 200;
/** Elements that may be on the page at a time, whatever it shows. */
const MAX_ELEMENTS = 3000;
/** A page that drew all 5000 would stand still for longer; other tests run beside this one. */
const FRAME_MS = 1000;

const longRun = { branch: "" };

/** A query of 5000 iterations, after 200 of one. */
async function fill({ engine: { store } }: Rig): Promise<void> {
  const { branchId, queryId } = await begun(store, { text: "The first of many" });
  longRun.branch = branchId;
  await iterate(queryId, 1);
  for (let at = 1; at < QUERIES; at++) await iterate(await store.beginQuery(newQuery(branchId, `Part ${at}`)), 1);
  await iterate(await store.beginQuery(newQuery(branchId, "Read every part")), ITERATIONS);

  async function iterate(id: string, count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      const code = `const part = await read(${at + 1})`;
      const facts = { userPrompt: "[]", response: "{}", thinking: `Part ${at + 1} comes next`, blocks: [code] };
      const iteration = await store.beginIteration(newIteration(id, at, facts));
      await store.endIteration(iteration, iterationEnd([block(code, { result: { preview: `part ${at + 1}` } })]));
    }
    await store.endQuery(id, queryEnd({ answer: `read ${count}`, iterations: count }));
  }
}

inBrowser("stays quick with a conversation of 5000 iterations", { before: fill }, async ({ page }) => {
  await inPage(page, `void (location.hash = "c=${longRun.branch}")`);
  await page.locator(".answer", { hasText: `read ${ITERATIONS}` }).waitFor();
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
