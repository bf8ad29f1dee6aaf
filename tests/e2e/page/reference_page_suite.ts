import assert from "node:assert/strict";
import { accessible } from "./_axe.ts";
import { inBrowser, inPage } from "./_browser.ts";

for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [1280, 390]) {
    inBrowser(`/docs is accessible, ${colorScheme}, ${width} pixels wide`, {
      context: { colorScheme, viewport: { width, height: 800 } },
    }, async ({ page, rig }) => {
      await page.goto(`${rig.url}docs`);
      await page.locator("article#sendMessage summary").first().click();
      await accessible(page, "/docs");
      const wide = await inPage<number>(page, "document.documentElement.scrollWidth");
      assert.ok(wide <= width, `${wide} pixels`);
      await page.locator("nav a[href='#openaiCreateResponse']").click();
      assert.match(page.url(), /#openaiCreateResponse$/);
    });
  }
}
