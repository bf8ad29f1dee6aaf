import axe from "axe-core";
import assert from "node:assert/strict";
import { inBrowser, inPage } from "./_browser.ts";

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    inBrowser(`/docs is accessible, ${colorScheme}, ${width} pixels wide`, {
      context: { colorScheme, viewport: { width, height: 800 } },
    }, async ({ page, rig }) => {
      await page.goto(`${rig.url}docs`);
      await page.locator("article#sendMessage summary").first().click();
      await inPage(page, axe.source);
      const { violations } = await inPage<{ readonly violations: readonly Violation[] }>(page, "axe.run()");
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`), []);
      const wide = await inPage<number>(page, "document.documentElement.scrollWidth");
      assert.ok(wide <= width, `${wide} pixels`);
      await page.locator("nav a[href='#openaiCreateResponse']").click();
      assert.match(page.url(), /#openaiCreateResponse$/);
    });
  }
}
