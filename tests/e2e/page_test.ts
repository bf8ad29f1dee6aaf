import assert from "node:assert/strict";
import { replyJson } from "../helpers/scripted_provider.ts";
import { ask, inBrowser } from "./_browser.ts";

const final = (answer: string): string => replyJson([], { final: answer });

inBrowser("asks, streams and shows thinking, code, result and answer", {
  replies: [replyJson("const total = [3, 4].reduce((a, b) => a + b)", { thinking: "I add them" }), final("It is {{total}}")],
}, async ({ page }) => {
  await ask(page, "Add 3 and 4");
  await page.locator(".turn .answer", { hasText: "It is 7" }).waitFor();
  assert.match(page.url(), /#c=[0-9a-f-]{36}$/);
  assert.equal(await page.locator(".work > summary").textContent(), "2 steps");
  await page.locator(".work > summary").click();
  const step = page.locator(".step").first();
  await step.locator(".thinking", { hasText: "I add them" }).waitFor();
  assert.match(await step.locator("pre code").first().textContent() ?? "", /const total = /);
  assert.match(await step.locator(".result").textContent() ?? "", /✓.*7/);
  await page.screenshot({ path: "/tmp/pw/a.png" });
});
