import assert from "node:assert/strict";
import { accessible } from "./_axe.ts";
import { inBrowser, inPage } from "./_browser.ts";

inBrowser("/docs is accessible in light and dark, 1280 and 390 pixels wide", {}, async ({ page, rig }) => {
  await page.goto(`${rig.url}docs`);
  await page.locator("article#sendMessage summary").first().click();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await accessible(page, `/docs, ${colorScheme}, ${width} pixels wide`);
    }
    const wide = await inPage<number>(page, "document.documentElement.scrollWidth");
    assert.ok(wide <= width, `${wide} pixels`);
    await page.locator("nav a[href='#openaiCreateResponse']").click();
    assert.match(page.url(), /#openaiCreateResponse$/);
    await inPage(page, "void (location.hash = '')");
  }
});
