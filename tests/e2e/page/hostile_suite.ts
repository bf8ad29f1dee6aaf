import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../../src/extension/mod.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { ask, inBrowser, inPage, openVariables } from "./_browser.ts";

const final = (answer: string, answerType = "text"): string =>
  replyJson([], { final: { answer, answerType, confidence: "high" } });
const MARKUP =
  "<script>globalThis.hit = 1</script><img src=x onerror='globalThis.hit = 2'><svg onload='globalThis.hit = 3'>" +
  "<iframe srcdoc='<script>parent.hit = 4</script>'></iframe><a href='javascript:hit=5'>x</a><style>*{display:none}</style>";
const OVERRIDE = "\u202egnp.exe\u202c \u2066hidden\u2069 \u200bzero \u{e0041}tag";
const ANSI = "\x1b[31mred\x1b[0m \x1b]8;;http://evil.test\x07link\x07 \x00\x07\x9b2J";
const MARKDOWN = [
  "# Title <script>globalThis.hit = 6</script>",
  "[click](javascript:globalThis.hit=7) [data](data:text/html,<script>1</script>) <javascript:alert(1)>",
  "![pixel](http://127.0.0.1:1/pixel.png) [https://good.example](https://evil.example/a)",
  `| a | b |\n|---|---|\n| ${MARKUP} | ${OVERRIDE} |`,
  "```html\n<script>globalThis.hit = 8</script>\n```",
  `${"> ".repeat(1_000)}deep`,
  `${"*".repeat(6_000)}${"[".repeat(6_000)}${"`".repeat(6_000)}`,
].join("\n\n");

inBrowser("shows hostile code, results, thinking and answers as text", {
  replies: [
    replyJson(`console.log(${JSON.stringify(MARKUP + ANSI + OVERRIDE)}); const line = "x".repeat(3000)`, {
      thinking: `${MARKUP} ${OVERRIDE} ${ANSI}`,
    }),
    final(MARKDOWN, "markdown"),
  ],
}, async ({ page }) => {
  await ask(page, `${MARKUP}${OVERRIDE}`);
  await page.locator(".answer h3", { hasText: "Title" }).waitFor();
  await page.locator(".work > summary").click();
  await page.locator(".step .result").first().waitFor();
  await openVariables(page);
  await page.locator("#viewer-body", { hasText: "line" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "inspect step 1" }).click();
  await page.getByRole("tab", { name: "Received" }).click();
  await page.keyboard.press("Escape");
  assert.equal(await inPage(page, "globalThis.hit ?? 0"), 0);
  const made = "#frame script, #thread img, #thread iframe, #thread style, #thread svg, #viewer script";
  assert.equal(await page.locator(made).count(), 0);
  const links = await inPage<readonly string[]>(
    page,
    "[...document.querySelectorAll('#thread a')].map((a) => `${a.protocol} ${a.rel} ${a.textContent}`)",
  );
  assert.ok(links.length > 0);
  for (const link of links) assert.match(link, /^https?: noopener noreferrer /);
  assert.ok(links.some((link) => /good\.example.*evil\.example/.test(link)), "a link that names another host says so");
  const shown = await inPage<string>(page, "document.body.textContent + document.title");
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(shown, /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u);
  assert.ok(shown.includes("\u241b[31mred") && shown.includes("U+202E"));
});

const EDITING: Extension = {
  namespace: "test.editing",
  doc: "Edits.",
  version: "0.1.0",
  alias: { ns: "test.ext.editing", alias: "editing" },
  symbols: [
    fn("edit", ({ changedFile }: EnvironmentView) => {
      changedFile?.("--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-one\n+two\n");
      return Promise.resolve([...Array(32).fill({ bytes: 1, path: "a.ts" }), { more: 1 }]);
    }, {
      doc: "Edits a file.",
      args: z.tuple([]),
      returns: "unknown",
      action: { doing: "editing", done: "edited", things: "files" },
    }),
  ],
};

inBrowser("is not held up by a result that is almost only a change", {
  rig: { engine: { extensions: [EDITING] } },
  replies: [replyJson("await editing.edit()"), final("Edited")],
}, async ({ page }) => {
  await ask(page, "Edit it");
  await page.locator(".answer", { hasText: "Edited" }).waitFor();
  await page.locator(".work > summary").click();
  await page.locator(".step .result pre", { hasText: "more: 1" }).waitFor({ state: "attached" }); // It is folded.
});

inBrowser("is not held up or widened by huge texts", {
  replies: [
    replyJson(`console.log("y".repeat(900_000)); const big = "z ".repeat(200_000)`, { thinking: "w".repeat(300_000) }),
    final("Q".repeat(500_000)),
  ],
}, async ({ page }) => {
  await ask(page, `${"R".repeat(100_000)}`);
  await page.locator(".answer", { hasText: "QQQ" }).waitFor();
  await page.locator(".work > summary").click();
  await page.locator(".step .result").first().waitFor();
  const size = await inPage<{ readonly chars: number; readonly overflow: boolean }>(
    page,
    `({ chars: document.body.textContent.length,
        overflow: document.documentElement.scrollWidth > innerWidth
          || document.querySelector("#thread").scrollWidth > document.querySelector("#thread").clientWidth })`,
  );
  assert.ok(size.chars < 200_000, `${size.chars} characters are on the page`);
  assert.equal(size.overflow, false);
  const more = page.locator(".answer .more");
  await more.click();
  assert.equal(await inPage(page, "document.querySelector('.answer .plain').firstChild.length"), 80_000);
});
