import assert from "node:assert/strict";
import type { HttpParts } from "../../../src/channels/http/http_parts.ts";
import { final } from "../../helpers/scripted_provider.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

const MODELS = [{
  ...{ provider: "scripted", source: "config" as const, detail: "" },
  models: ["script", "other"].map((name) => ({
    ...{ name, contextTokens: null, price: null, reasoning: false, images: false, known: true },
    root: name === "script",
  })),
}];

inBrowser("asks the chosen model in the chosen workspace, within the limits", {
  replies: [final("- done")],
  rig: { models: MODELS, workspaces: ["/other"] },
}, async ({ page, rig }) => {
  await page.locator("#model").selectOption("scripted/other");
  await page.locator("#reasoning").selectOption("deep");
  await page.locator("#workspace").selectOption("/other");
  await page.locator("#limits > summary").click();
  const shown = (field: string) => page.getByLabel(field).getAttribute("placeholder");
  assert.deepEqual([await shown("Steps"), await shown("US dollars")], ["", "no limit"]);
  await page.getByLabel("Steps").fill("3");
  await ask(page, "begin");
  await page.locator(".answer li", { hasText: "done" }).waitFor();
  assert.equal(await page.locator("#workspace").count(), 0, "a conversation stays in its workspace");
  assert.equal(await page.locator("#limits > summary").innerText(), "1 limit");
  const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
  assert.equal(made.workspace, "/other");
  assert.equal(rig.engine.provider.requests[0]?.reasoning, "deep");
});

inBrowser("completes files after @ and own prompts after a slash, and sends the prompt's text", {
  replies: [final("- read"), final("- planned")],
}, async ({ page, rig }) => {
  const input = page.locator("#request"), options = page.locator("#suggestions [role=option]");
  const reads: string[] = [];
  page.on("request", (request) => request.url().includes("/api/v1/prompts") && reads.push(request.url()));
  await input.pressSequentially("/re");
  await options.filter({ hasText: "/review" }).waitFor();
  assert.equal(reads.length, 1, "the prompts are read once for each name");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "/review ");
  await input.pressSequentially("@app");
  await options.filter({ hasText: "@src/app.ts" }).waitFor();
  assert.equal(await input.getAttribute("aria-activedescendant"), "suggestions-0");
  await page.keyboard.press("Escape");
  await options.first().waitFor({ state: "detached" });
  await input.pressSequentially("l");
  await options.first().click();
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "/review @src/appl.ts ");
  await page.keyboard.press("Enter");
  await page.locator(".answer li", { hasText: "read" }).waitFor();
  assert.match(rig.engine.provider.requests[0]?.texts.join("\n") ?? "", /Review @src\/appl\.ts/);
  await input.fill("/plan the next step");
  await page.keyboard.press("Enter");
  await page.locator(".answer li", { hasText: "planned" }).waitFor();
  await page.locator(".last .asked small", { hasText: "plan" }).waitFor();
  await page.locator(".last .did", { hasText: "This is a plan. Send go" }).waitFor();
  const asked = rig.engine.provider.requests[1]?.texts.join("\n") ?? "";
  assert.match(asked, /the next step/);
  assert.ok(!asked.includes("/plan the next"));
  await page.reload();
  await page.locator(".last .asked small", { hasText: "plan" }).waitFor();
  await page.locator(".last .did", { hasText: "This is a plan. Send go" }).waitFor();
});

inBrowser("a typed command uses its control, and the page names the equivalent of a command that it lacks", {
  replies: [final("- answered")],
}, async ({ page, rig }) => {
  const input = page.locator("#request"), status = page.locator("#status");
  const type = async (text: string): Promise<void> => {
    await input.fill(text);
    await page.keyboard.press("Enter");
  };
  await type("/undo");
  await status.filter({ hasText: "Cannot run /undo: no request here has changes to undo" }).waitFor();
  assert.equal(await input.inputValue(), "/undo");
  await type("/quit");
  await status.filter({ hasText: "The page has no /quit: close the tab" }).waitFor();
  await type("/budget 20");
  await page.locator("#limits[open]").waitFor();
  await status.filter({ hasText: "/budget ignored “20”: use the control" }).waitFor();
  assert.equal(await input.inputValue(), "");
  await type("/bogus");
  await status.filter({ hasText: "Unknown command /bogus; / lists all commands" }).waitFor();
  assert.equal(await input.inputValue(), "/bogus");
  await type("/tmp is full");
  await page.locator(".answer li", { hasText: "answered" }).waitFor();
  assert.equal(rig.engine.provider.requests.length, 1);
  await type("/vars");
  await page.locator("dialog[open]", { hasText: "Variables" }).waitFor();
});

inBrowser("a request for a plan unticks Plan only, and every conversation keeps its own unsent text", {
  replies: [final("- planned"), final("- carried out"), final("- second")],
}, async ({ page, rig }) => {
  const input = page.locator("#request"), plan = page.locator("#plan");
  await plan.check();
  await ask(page, "first");
  await page.locator(".answer li", { hasText: "planned" }).waitFor();
  assert.equal(await plan.isChecked(), false);
  await page.getByRole("button", { name: "Carry out the plan" }).click();
  await page.locator(".answer li", { hasText: "carried out" }).waitFor();
  const texts = rig.engine.provider.requests.map(({ texts }) => texts.join("\n"));
  assert.deepEqual(texts.map((text) => text.includes("Make a plan, and change nothing")), [true, false]);
  await input.fill("half of one");
  await page.keyboard.press("Control+Shift+O");
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "");
  await ask(page, "second");
  await page.locator(".answer li", { hasText: "second" }).waitFor();
  await input.fill("half of two");
  await page.goBack();
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "half of one");
  await page.goForward();
  await page.goForward();
  await page.waitForFunction(() => document.querySelector("textarea")?.value === "half of two");
});

const state = { undone: false };
const KEPT = [{ path: "b.ts", reason: "it changed since" }];

const undo = (rigQuery: () => Promise<string>, lines = 50): NonNullable<HttpParts["undo"]> => async (_, options) => {
  const { dryRun = false, redo = false, rest = false, list = false } = options;
  if (list) return {};
  const diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n" +
    `--- /dev/null\n+++ b/n.ts\n@@ -0,0 +1,${lines} @@\n${"+x\n".repeat(lines)}`;
  const change = { ...{ id: "0abc-01", at: 7, change: "edit", conversationId: "c", paths: ["a.ts"] } };
  if (state.undone !== redo) return { error: `Nothing to ${redo ? "redo" : "undo"}` };
  if (!redo && !rest) return { error: "Cannot undo: b.ts changed since; no file changed", others: 1, kept: KEPT };
  if (!dryRun) state.undone = !redo;
  return { changes: [{ ...change, queryId: await rigQuery() }], files: [{ path: "a.ts", diff }], kept: KEPT };
};
const latest = { query: () => Promise.resolve("") };

const earlier = { queryId: "" };
const undone = { at: 0 };

inBrowser("an undo and its redo belong to the request that changed the files", {
  replies: [final("Hello"), final("Hello again")],
  rig: {
    undo: (_, { redo = false, dryRun = false, list = false }) => {
      if (list) return Promise.resolve({});
      const change = { id: "0abc-01", change: "edit", conversationId: "c", paths: ["a.ts"], ...earlier };
      const diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1,0 +1,20 @@\n" + "+x\n".repeat(20);
      if (redo !== undone.at > 0) return Promise.resolve({ error: "Nothing to change" });
      const at = 7 + undone.at;
      if (!dryRun) undone.at++;
      return Promise.resolve({ changes: [{ ...change, at }], files: [{ path: "a.ts", diff }], kept: [] });
    },
  },
}, async ({ page, rig }) => {
  await ask(page, "Begin");
  await page.locator(".done > footer > span").waitFor();
  const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
  const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
  earlier.queryId = items[0].queryId;
  await ask(page, "Go on");
  await page.locator(".last .answer", { hasText: "Hello again" }).waitFor();
  const changed = page.locator(".turn").first().locator(".changes");
  await changed.locator("summary", { hasText: "1 file changed +20" }).waitFor();
  assert.ok(await changed.locator(".lines").isHidden(), "a long change is folded");
  await changed.getByRole("button", { name: "Undo these changes" }).click();
  await page.locator("#ask-question", { hasText: "Undo the changes of a.ts by request 1 of 2, “Begin”?" })
    .waitFor();
  await page.locator("#ask-yes").click();
  await page.locator(".turn").first().getByRole("button", { name: "Redo" }).waitFor();
  assert.equal(await page.locator(".undone").count(), 1);
});

const folder = { queryId: "", isUndone: false };

inBrowser("an undo of folders alone names the folders, and says how many it changed", {
  replies: [final("Made the folder")],
  rig: {
    undo: (_, { redo = false, dryRun = false, list = false }) => {
      if (list) return Promise.resolve({});
      const { queryId, isUndone } = folder;
      const change = { id: "0abc-01", at: 7, change: "command", conversationId: "c", paths: ["made"], queryId };
      if (redo !== isUndone) return Promise.resolve({ error: "Nothing to change" });
      if (!dryRun) folder.isUndone = !redo;
      return Promise.resolve({ changes: [change], files: [], folders: ["made"], kept: [] });
    },
  },
}, async ({ page, rig }) => {
  await ask(page, "Make it");
  await page.locator(".done > footer > span").waitFor();
  const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
  const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
  folder.queryId = items[0].queryId;
  await page.reload();
  assert.equal(await page.locator(".changes summary").innerText(), "1 folder changed");
  await page.getByRole("button", { name: "Undo these changes" }).click();
  await page.locator("#ask-question", { hasText: "Undo the changes of made/?" }).waitFor();
  await page.locator("#ask-yes").click();
  await page.locator("#status", { hasText: "Undid the changes of 1 folder" }).waitFor();
});

const slow = gated([final("Changed a.ts")], { at: 0 });

inBrowser("offers the undo of a request only after its end", {
  rig: { undo: undo(() => latest.query()), engine: { provider: slow.provider } },
}, async ({ page, rig }) => {
  const looked = Promise.withResolvers<void>();
  latest.query = async () => {
    const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
    const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
    looked.resolve();
    return items.at(-1)?.queryId ?? "";
  };
  await ask(page, "change it");
  await slow.reached;
  const shown = page.waitForResponse((response) => response.url().endsWith("/undo"));
  await page.reload();
  await Promise.all([shown, looked.promise, page.locator("#cancel").waitFor()]);
  await inPage(page, "new Promise(requestAnimationFrame)");
  assert.equal(await page.locator(".changes").count(), 0);
  slow.open();
  await page.getByRole("button", { name: "Undo these changes" }).waitFor();
});

inBrowser("leaves the whole line of a phone to the names of changed files, and folds their diff", {
  replies: [final("Now in a.ts:\n\n```diff\n-const a = 1\n+const a = 2\n```")],
  rig: { undo: undo(() => latest.query(), 5) },
  context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
}, async ({ page, rig }) => {
  latest.query = async () => {
    const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
    const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
    return items.at(-1)?.queryId ?? "";
  };
  await ask(page, "change it");
  const button = await page.getByRole("button", { name: "Undo these changes" }).boundingBox();
  const names = await page.locator(".changes summary").boundingBox();
  assert.ok(button && names && button.y >= names.y + names.height, JSON.stringify({ button, names }));
  assert.ok(button.height >= 40, "a finger hits it");
  assert.equal(await page.locator(".changes details[open]").count(), 0, "the answer stays in view");
  await page.locator(".answer .t-removed").waitFor();
  const colours = await inPage<string[]>(
    page,
    "['.t-added', '.t-removed'].map((of) => getComputedStyle(document.querySelector(`.answer ${of}`)).color)",
  );
  assert.equal(new Set(colours).size, 2, "a diff in an answer has the colours of diffs");
  assert.ok(await inPage<number>(page, "document.documentElement.scrollWidth") <= 390);
});

inBrowser("shows the last request's changes in files, undoes them after a confirmation, and redoes them", {
  replies: [final("Changed a.ts")],
  rig: { undo: undo(() => latest.query()) },
}, async ({ page, rig }) => {
  latest.query = async () => {
    const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
    const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
    return items.at(-1)?.queryId ?? "";
  };
  await ask(page, "change it");
  await page.locator(".changes summary").click(); // a long change is folded
  await page.locator(".changes .d-added", { hasText: "const a = 2" }).waitFor();
  assert.deepEqual(await page.locator(".changes mark").allInnerTexts(), ["1", "2"]);
  assert.deepEqual(await page.locator(".changes header").allInnerTexts(), ["a.ts\n+1\n−1", "n.ts (new)\n+50"]);
  assert.equal(await page.locator(".changes .d-added").count(), 41);
  await page.getByRole("button", { name: "Show 10 more lines" }).click();
  assert.equal(await page.locator(".changes .d-added").count(), 51);
  const heights = await inPage<readonly number[]>(
    page,
    "[...document.querySelectorAll('.changes .lines > div')].map(({ offsetHeight }) => offsetHeight)",
  );
  assert.deepEqual(heights.filter((height) => height > heights[0]! + 1), [], "a number stands on one line");
  await page.locator(".changes p", { hasText: "Undo keeps b.ts (it changed since)" }).waitFor();
  assert.match(await page.locator(".changes summary").innerText(), /^1 file changed \+51 −1/);
  await page.getByRole("button", { name: "Undo these changes" }).click();
  await page.locator("#ask-question", { hasText: "Undo the changes of a.ts?" }).waitFor();
  await page.locator("#ask-no").click();
  assert.equal(state.undone, false);
  await page.getByRole("button", { name: "Undo these changes" }).click();
  await page.locator("#ask-yes").click();
  await page.locator("#status", { hasText: "Undid the changes of 1 file" }).waitFor();
  assert.equal(await page.locator(".changes").count(), 0);
  await page.locator(".undone", { hasText: "The changes of a.ts are undone." }).waitFor();
  await accessible(page, "an undo");
  await page.getByRole("button", { name: "Redo" }).click();
  await page.locator("#status", { hasText: "Reapplied the changes of 1 file" }).waitFor();
  await page.locator(".changes").waitFor();
  assert.equal(await page.locator(".undone").count(), 0);
  await page.reload();
  await page.locator(".changes").waitFor();
  assert.ok(await page.locator("#latest").isHidden());
});

inBrowser("shows a conversation in a folder that the server does not have, without an input", {
  replies: [final("- done")],
  rig: { engine: { workspace: "/gone" } },
  before: async ({ engine }) => void await engine.ask("Begin"),
}, async ({ page }) => {
  await page.locator("#list a", { hasText: "test" }).click();
  await page.locator("#composer", { hasText: "run vis serve in this folder, or add it to server.workspaces" })
    .waitFor();
  await page.locator(".answer li", { hasText: "done" }).waitFor();
  for (const name of ["Send", "Run again"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  assert.ok(await page.locator("#request").isHidden());
  await page.locator("#new").click();
  await page.locator("#request").waitFor();
});
