import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../../src/extension/mod.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";

const DIFF = "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n";
const LINES = Array.from({ length: 30 }, (_, at) => `ok ${at}`).join("\n");

const WORKING: Extension = {
  namespace: "test.working",
  alias: { ns: "test.ext.working", alias: "working" },
  doc: "Works.",
  version: "0.1.0",
  symbols: [
    fn("run", (_env: EnvironmentView, command: string) => ({
      ...{ code: command === "fail" ? 1 : 0, signal: null, stdout: `${LINES}\n`, stderr: "a warning" },
      ...{ ms: 5, timedOut: false },
    }), {
      doc: "Runs.",
      untimed: true,
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: ({ code }) => ({ text: code === 0 ? "" : `exit code ${code}`, ok: code === 0, exitCode: code }),
      args: z.tuple([z.string()]),
      returns: "unknown",
    }),
    fn("count", () => 42, {
      doc: "Counts.",
      untimed: true,
      action: { doing: "counting", done: "counted", things: "lines" },
      args: z.tuple([]),
      returns: "number",
    }),
    fn("edit", (env: EnvironmentView, path: string) => (env.changedFile?.(DIFF), { path, diff: DIFF }), {
      doc: "Edits.",
      untimed: true,
      action: { doing: "editing", done: "edited", things: "files" },
      args: z.tuple([z.string()]),
      returns: "unknown",
    }),
    fn("open", async ({ approve }: EnvironmentView) => {
      const { allowed = false } = await approve?.({ what: "open doors", why: "", scope: "doors" }) ?? {};
      if (!allowed) throw new Error("Cannot open the doors: the user said no");
    }, {
      doc: "Opens.",
      untimed: true,
      action: { doing: "opening", done: "opened", things: "doors" },
      args: z.tuple([]),
      returns: "void",
    }),
  ],
};
/** A command that runs until it is cancelled. */
const ENDLESS: Extension = {
  namespace: "test.endless",
  alias: { ns: "test.ext.endless", alias: "endless" },
  doc: "Waits.",
  version: "0.1.0",
  symbols: [
    fn("run", async ({ signal }: EnvironmentView) => {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      return {};
    }, {
      doc: "Runs.",
      untimed: true,
      action: { doing: "running", done: "ran", things: "commands" },
      outcome: () => ({ text: "cancelled", ok: false, exitCode: null }),
      args: z.tuple([z.string()]),
      returns: "unknown",
    }),
  ],
};

inBrowser("a cancelled request says so once, whatever it ran and thought", {
  rig: { engine: { extensions: [ENDLESS] } },
  replies: [replyJson("await endless.run('sleep 60')", { thinking: "I wait" })],
}, async ({ page }) => {
  await ask(page, "Wait");
  await page.locator(".running .step", { hasText: "sleep 60" }).waitFor();
  await page.locator("#request").press("Escape");
  await page.locator(".answer.stopped", { hasText: "Cancelled in step 1" }).waitFor();
  const shown = await page.locator(".answer.stopped").innerText();
  assert.equal(shown.trim(), "Cancelled in step 1; completed work is kept.");
});

inBrowser("shows the time of a call that runs for some seconds", {
  rig: { engine: { extensions: [ENDLESS] } },
  replies: [replyJson("await endless.run('sleep 60')")],
}, async ({ page }) => {
  await page.clock.install();
  await ask(page, "Wait");
  await page.locator(".running .step", { hasText: "sleep 60" }).waitFor();
  await page.clock.runFor(8_000);
  await page.locator("#activity", { hasText: /running sleep 60 · \d+ s/ }).waitFor();
  await page.locator("#request").press("Escape");
  await page.locator(".answer.stopped").waitFor();
});

const rig = { engine: { extensions: [WORKING] } };

inBrowser("shows the output of a command instead of its object, folded, and a short value at once", {
  rig,
  replies: [
    replyJson(["const ran = await working.run('tests')", "await working.count()"]),
    replyJson("Array.from({ length: 40 }, (_, id) => ({ id, text: `row ${id}` }))"),
    final("Done"),
  ],
}, async ({ page }) => {
  await ask(page, "Run the tests");
  await page.locator(".done > footer > span").waitFor();
  await page.locator(".work > summary").click();
  const step = page.locator("[data-step='1']");
  await step.getByText("→ 42").waitFor();
  const output = step.locator("details", { hasText: "ran tests" });
  const shown = output.getByLabel("Result");
  assert.ok(await shown.isHidden());
  await output.locator("summary").click();
  assert.equal(await shown.innerText(), `${LINES}\na warning`);
  await output.getByLabel("Code of block 1").waitFor();
  const value = page.locator("[data-step='2'] .result");
  assert.match(await value.locator("summary").innerText(), /Array\.from/);
  assert.ok(await value.getByLabel("Result").isHidden());
  await accessible(page, "folded results");
});

inBrowser("a step whose call the user refused is no failure", {
  rig,
  replies: [replyJson("await working.open()"), final("They stay shut")],
}, async ({ page }) => {
  await ask(page, "Open the doors");
  await page.locator(".question").getByRole("button", { name: /^No$/ }).click();
  await page.locator(".done > footer > span").waitFor();
  await page.locator(".work > summary").click();
  const step = page.locator("[data-step='1']");
  await step.locator(".line", { hasText: "refused by you" }).waitFor();
  assert.equal(await step.locator(".bad").count(), 0);
});

inBrowser("draws no code whose only effect is the answer below it", {
  rig,
  replies: [replyJson("const n = await working.count()"), replyJson("await answer(`${n} lines`)")],
}, async ({ page }) => {
  await ask(page, "How many?");
  await page.locator(".answer", { hasText: "42 lines" }).waitFor();
  await page.locator(".work > summary", { hasText: "2 steps" }).click();
  await page.locator("[data-step='2'] .line", { hasText: "answered" }).waitFor();
  assert.equal(await page.locator(".step .result").count(), 1);
});

const undo = { error: "Cannot undo: a.ts went into a git commit since", code: "files_changed" as const };

inBrowser("keeps the changes of a request below its answer when no undo can revert them", {
  rig: { ...rig, undo: () => Promise.resolve(undo) },
  replies: [replyJson("await working.edit('a.ts')"), final("It is 2"), final("Nothing to do")],
}, async ({ page }) => {
  const changes = page.locator(".turn").first().locator(".changes");
  const work = page.locator(".turn").first().locator(".work > summary");
  const change = changes.locator(".d-added", { hasText: "const a = 2" });
  await ask(page, "Make it 2");
  await change.waitFor();
  assert.match(await changes.locator("summary").innerText(), /^1 file changed \+1 −1 \(a\.ts\)/);
  assert.equal(await changes.getByRole("button", { name: "Undo" }).count(), 0);
  assert.equal(await work.innerText(), "2 steps", "the line of the changes names the file");
  await work.click();
  const edit = page.locator("[data-step='1'] .result");
  await edit.locator("summary", { hasText: "edited a.ts +1 −1" }).waitFor();
  assert.equal(await page.locator(".d-added").filter({ visible: true }).count(), 1, "a change is shown once");
  await edit.locator("summary").click();
  assert.equal(await page.locator(".d-added").filter({ visible: true }).count(), 2);
  await ask(page, "/undo");
  await page.getByText("vis undo --force undoes it anyway").first().waitFor();
  await page.locator("#request").fill("");
  await ask(page, "And now?");
  await page.locator(".turn.last .answer", { hasText: "Nothing to do" }).waitFor();
  assert.ok(await change.isVisible());
  await page.reload();
  await changes.locator("summary").click();
  await change.waitFor();
  await accessible(page, "changes that no undo reverts");
});

inBrowser("shows twenty changes of a block, and the others on demand", {
  rig: { ...rig, undo: () => Promise.resolve(undo) },
  replies: [replyJson("for (let at = 0; at < 25; at++) await working.edit('a.ts')"), final("It is 2")],
}, async ({ page }) => {
  await ask(page, "Make it 2");
  await page.locator(".done > footer > span").waitFor();
  const changes = page.locator(".changes");
  await changes.locator("summary").click();
  await changes.getByRole("button", { name: "Show 5 more changes" }).waitFor();
  assert.equal(await changes.locator(".change").count(), 20);
  await changes.getByRole("button", { name: "Show 5 more changes" }).click();
  assert.equal(await changes.locator(".change").count(), 25);
  await accessible(page, "many changes");
});

const undoneEarlier = { queryId: "", isUndone: false };

inBrowser("shows within seconds that an earlier request was undone or reapplied elsewhere", {
  rig: {
    ...rig,
    undo: (_, { list = false }) => {
      const { queryId, isUndone } = undoneEarlier;
      const change = { id: "0abc-01", at: 7, change: "edit", conversationId: "c", paths: ["a.ts"], queryId };
      return Promise.resolve(list ? { changes: [{ ...change, undone: isUndone }] } : { error: "Nothing to undo" });
    },
  },
  replies: [replyJson("await working.edit('a.ts')"), final("It is 2"), final("Nothing to do")],
}, async ({ page, rig }) => {
  await page.clock.install();
  await ask(page, "Make it 2");
  await page.locator(".answer", { hasText: "It is 2" }).waitFor();
  await ask(page, "And now?");
  await page.locator(".turn.last .answer", { hasText: "Nothing to do" }).waitFor();
  const line = page.locator(".turn").first().locator(".changes summary");
  assert.equal(await line.innerText(), "1 file changed +1 −1 (a.ts)");
  const { items: [made] } = await (await rig.ask("/api/v1/conversations?limit=1")).json();
  const { items } = await (await rig.ask(`/api/v1/conversations/${made.conversationId}/queries`)).json();
  const becomes = (shown: string): Promise<void> =>
    until(async () => {
      await page.clock.runFor(2_000);
      return await line.innerText() === shown;
    });
  Object.assign(undoneEarlier, { queryId: items[0].queryId, isUndone: true });
  await becomes("1 file changed +1 −1 (a.ts) · undone");
  Object.assign(undoneEarlier, { isUndone: false });
  await becomes("1 file changed +1 −1 (a.ts)");
});

inBrowser("lists a failed command first, and opens the commands that the list omits", {
  rig,
  replies: [
    replyJson(["fail", "1", "2", "3", "4", "5"].map((command) => `await working.run("${command}")`).join("\n")),
    final("Done"),
  ],
}, async ({ page }) => {
  await ask(page, "Run them");
  await page.locator(".done > footer > span").waitFor();
  const rows = page.locator(".changes .ran").filter({ visible: true });
  assert.deepEqual(await rows.locator("code").allInnerTexts(), ["fail", "3", "4", "5"]);
  assert.match(await rows.first().innerText(), /^✗\s+fail\s+exit code 1$/);
  await page.locator(".changes summary", { hasText: "and 2 more" }).click();
  assert.deepEqual(await rows.locator("code").allInnerTexts(), ["fail", "3", "4", "5", "1", "2"]);
  await accessible(page, "all commands of a request");
});

inBrowser("names a long command in one line on a phone", {
  rig,
  context: { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
  replies: [replyJson(`await working.run("npm test ${"x".repeat(100)}")`), final("Done")],
}, async ({ page }) => {
  await ask(page, "Test it");
  await page.locator(".done > footer > span").waitFor();
  const [all, one] = [page.locator(".work > summary"), page.locator("[data-step='1'] .result > summary")];
  assert.equal(await all.innerText(), "2 steps");
  const [row, height] = [page.locator(".changes .ran"), async () => (await row.boundingBox())?.height ?? 0];
  assert.match(await row.innerText(), /npm test x+/);
  assert.ok(await height() < 40, `a command is ${await height()} pixels high`);
  assert.ok(await inPage<number>(page, "document.documentElement.scrollWidth") <= 390);
  await all.click();
  assert.match(await one.innerText(), /ran npm test x{26}…/);
});

inBrowser("asks for the token without scrolling, also on a phone", {
  context: { viewport: { width: 390, height: 560 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  await inPage(page, "void sessionStorage.clear()");
  await page.goto(page.url().replace(/#.*/, ""));
  await page.reload();
  await page.locator("#token").waitFor();
  assert.ok(await inPage<boolean>(page, "document.documentElement.scrollHeight <= innerHeight"));
  await accessible(page, "the token");
});
