import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import type { Page } from "playwright-core";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { NO_QUOTA, TOKEN } from "../../channels/http/_rig.ts";
import { ask, inBrowser, inPage, openVariables } from "./_browser.ts";
import { gated } from "./_gate.ts";

const CODE = "const free = pool.pop(); // the newest\nreturn free";
const LONG = Array.from({ length: 120 }, (_, at) => `Line ${at}`).join("\n\n");
const permissions = ["clipboard-read", "clipboard-write"];

const clipboard = async (page: Page): Promise<string> => await inPage<string>(page, "navigator.clipboard.readText()");

inBrowser("copies code of a step, code of an answer and the answer itself", {
  replies: [replyJson("const kept = 41"), final(`So:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n`)],
  context: { permissions },
}, async ({ page }) => {
  await ask(page, "Begin");
  const block = page.locator(".answer .copyable");
  await page.locator(".done > footer").waitFor(); // The answer is drawn again when the query ends.
  assert.equal(await block.locator(".t-comment").textContent(), "// the newest");
  await block.hover();
  await block.getByRole("button", { name: "copy" }).click();
  await block.locator("button", { hasText: "Copied" }).waitFor();
  assert.equal(await clipboard(page), CODE);
  await page.getByRole("button", { name: "copy the answer" }).click();
  await page.locator(".done > footer", { hasText: "Copied" }).waitFor();
  assert.equal(await clipboard(page), `So:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n`);
  await page.locator(".work > summary").click();
  await page.locator(".step .result > summary").click();
  await page.getByRole("button", { name: "copy block 1" }).focus(); // The keyboard focus also shows it.
  await page.keyboard.press("Enter");
  await page.locator(".step .copy", { hasText: "Copied" }).waitFor();
  assert.equal(await clipboard(page), "const kept = 41");
});

inBrowser("the copy button of one line stays inside its block on a phone", {
  replies: [final("So:\n\n```sh\nnpm test\n```\n")],
  context: { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".done > footer").waitFor();
  const [block, button] = await Promise.all(
    ["pre", ".copy"].map((one) => page.locator(`.answer .copyable > ${one}`).boundingBox()),
  );
  assert.ok(block && button && button.y > block.y && button.y + button.height < block.y + block.height);
  assert.ok(button.height >= 24, "a finger can hit it");
});

inBrowser("writes each part of an answer in the direction of its script", {
  replies: [final("مرحبا `a.ts`\n\n- عنصر\n- two\n\nEnglish مرحبا")],
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".done > footer").waitFor();
  await page.locator(".answer li").first().waitFor();
  const directions =
    "[...document.querySelectorAll('.answer :is(p, li)')].map((one) => getComputedStyle(one).direction)";
  assert.deepEqual(await inPage(page, directions), ["rtl", "rtl", "rtl", "ltr"]);
});

inBrowser("breaks no name in the list of commands on a phone", {
  context: { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  await page.locator("#request").fill("/");
  const names = page.locator("#suggestions li > :first-child");
  await names.filter({ hasText: "/review" }).waitFor();
  const lines = await inPage<number[]>(
    page,
    `[...document.querySelectorAll("#suggestions li > :first-child")].map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return range.getClientRects().length;
    })`,
  );
  assert.ok(lines.length > 10 && lines.every((count) => count === 1), lines.join(" "));
});

inBrowser("offers ideas in an empty conversation, shows the keys, and leads back to the end", {
  replies: [final(LONG)],
}, async ({ page }) => {
  const idea = page.locator(".idea").first();
  const text = await idea.textContent();
  await idea.click();
  assert.equal(await page.locator("#request").inputValue(), text);
  assert.equal(await inPage(page, "document.activeElement.id"), "request");
  await page.keyboard.press("Control+/");
  await page.locator("#viewer kbd", { hasText: "Esc" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#request").press("Enter");
  await page.locator(".answer", { hasText: "Line 119" }).waitFor();
  assert.ok(await page.locator("#latest").isHidden());
  await inPage(page, "void document.getElementById('thread').scrollTo(0, 0)");
  await page.locator("#latest").click();
  await page.locator("#latest").waitFor({ state: "hidden" });
  const below =
    "(({ scrollHeight: h, scrollTop: t, clientHeight: c }) => h - t - c)(document.getElementById('thread'))";
  assert.ok(await inPage<number>(page, below) < 2);
});

async function line(url: string): Promise<{ readonly url: string; cut(): void; close(): void }> {
  const open = new Set<Socket>();
  const state = { away: false };
  const server = createServer((near) => {
    if (state.away) return void near.destroy();
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]] as const) {
      open.add(one);
      one.on("data", (bytes) => void other.write(bytes)).on("error", () => {}).on("close", () => other.destroy());
    }
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", () => resolve());
  await promise;
  const address = server.address();
  const end = () => open.forEach((socket) => socket.destroy());
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`,
    cut: () => {
      state.away = true;
      end();
      setTimeout(() => state.away = false, 400);
    },
    close: () => {
      end();
      server.close();
    },
  };
}

const gate = gated([replyJson("const kept = 41"), final("It is {{kept}}")], { at: 1 });

inBrowser("reports a lost connection, continues when it is restored, and keeps the text typed since", {
  rig: { engine: { provider: gate.provider }, hosts: ["127.0.0.1"] },
}, async ({ page, rig, faults }) => {
  const other = await line(rig.url);
  try {
    await page.goto(`${other.url}#token=${TOKEN}`);
    await page.locator("#frame").waitFor();
    await ask(page, "Begin");
    await page.locator(".running .step .result", { hasText: "41" }).waitFor();
    await page.locator("#request").fill("And then");
    other.cut();
    await page.locator("#status.bad", { hasText: "Connection lost" }).waitFor();
    gate.open();
    await page.locator(".answer", { hasText: "It is 41" }).waitFor();
    await page.locator("#status:not(.bad)").waitFor({ state: "attached" });
    assert.equal(await page.locator(".turn").count(), 1);
    assert.equal(await page.locator("#request").inputValue(), "And then");
    other.cut();
    await page.locator("#request").press("Enter");
    await page.locator("#status.bad", { hasText: "Cannot reach the server" }).waitFor();
    assert.equal(await page.locator("#request").inputValue(), "And then");
  } finally {
    other.close();
  }
  (faults as string[]).length = 0; // The browser reports each request that failed.
});

inBrowser("reads wait for their turn if requests are too many", {
  before: async ({ engine }) =>
    void await engine.conversations.create({ channel: "http", workspace: "/work", title: "A first one" }),
  rig: { limits: { perToken: { perMinute: 120, burst: 1 } } },
}, async ({ page, faults }) => {
  await page.locator("#list a", { hasText: "A first one" }).waitFor();
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});

const valid = { from: 0 };
const grant = { name: "test", scope: "admin", tenant: "default", all: true, expiresAt: null, quota: NO_QUOTA } as const;

inBrowser("asks for another token when its own one expires, wherever that shows, and continues in its place", {
  replies: [replyJson("const kept = 41"), final("It is {{kept}}")],
  rig: {
    tokens: {
      grants: () =>
        Promise.resolve(valid.from > 0 ? [] : [{ ...grant, digest: createHash("sha256").update(TOKEN).digest() }]),
    },
  },
}, async ({ page, faults }) => {
  await ask(page, "Begin");
  await page.locator(".answer", { hasText: "It is 41" }).waitFor();
  valid.from = 1;
  await page.locator("#variables").dispatchEvent("click"); // Another request of the page may have asked already.
  await page.locator("#entry").waitFor();
  assert.match(await page.locator("#entry-why").textContent() ?? "", /rejected this token/);
  assert.ok(await page.locator("#viewer").isHidden());
  valid.from = 0;
  await page.locator("#token").fill(TOKEN);
  await page.locator("#token").press("Enter");
  await page.locator(".answer", { hasText: "It is 41" }).waitFor();
  await openVariables(page);
  await page.locator(".variable", { hasText: "kept" }).waitFor();
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});
