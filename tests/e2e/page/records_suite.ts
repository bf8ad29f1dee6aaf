import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, openVariables } from "./_browser.ts";
import { gated } from "./_gate.ts";

const usage = { input: 1200, output: 34, cached: 1000, reasoning: 5, calls: 1 };

inBrowser("inspects a step: the exact messages, the reply, tokens, cost, times, walls and grants", {
  replies: [{ text: replyJson("const a = 1", { thinking: "Hm" }), usage }, final("{{a}} it is")],
}, async ({ page, rig }) => {
  await ask(page, "What is <b>a</b>?");
  await page.locator(".answer", { hasText: "1 it is" }).waitFor();
  await page.locator(".work > summary").click();
  await page.getByRole("button", { name: "inspect step 1" }).click();
  const viewer = page.locator("#viewer");
  await viewer.getByRole("tab", { name: "Sent" }).waitFor();
  const sent = await viewer.locator("section pre").allTextContents();
  const { texts } = rig.engine.provider.requests[0] ?? { texts: [] };
  assert.equal(sent.length, texts.length);
  for (const [at, text] of texts.entries()) {
    assert.equal(sent[at]?.replace(/Show more \(.*$/, ""), text.slice(0, 20_000), `message ${at}`);
  }
  await viewer.getByRole("tab", { name: "Received" }).click();
  await viewer.locator("pre", { hasText: '"thinking":"Hm"' }).waitFor();
  await viewer.getByRole("tab", { name: "Details" }).click();
  const facts = await viewer.locator(".panel").innerText();
  for (
    const fact of [/Input\n+1,200/, /Input, cached\n+1,000/, /Cost\n+price unknown/, /scripted script · \d/]
  ) {
    assert.match(facts, fact);
  }
  assert.match(facts, /Realm\n+✓ active/);
  assert.match(facts, /Granted\n+nothing/);
  await viewer.locator("#viewer-close").focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#viewer-title", { hasText: "Step 2 of 2" }).waitFor();
  await page.keyboard.press("Escape");
  assert.ok(await viewer.isHidden());
});

inBrowser("shows a variable with its versions and how they differ", {
  replies: [
    replyJson("let rows = { name: 'pear', count: 1 }"),
    replyJson("rows = { name: 'pear', count: 2 }"),
    replyJson("const text = 'one'"),
    final("{{rows.count}} rows"),
  ],
}, async ({ page }) => {
  await ask(page, "Count rows");
  await page.locator(".answer", { hasText: "2 rows" }).waitFor();
  await openVariables(page);
  const viewer = page.locator("#viewer");
  await viewer.locator("input[type=search]").fill("row");
  const row = viewer.locator(".variable", { hasText: "rows" });
  assert.equal(await viewer.locator(".variable").count(), 1);
  await row.locator("summary").first().click();
  await row.locator("h3", { hasText: "v2" }).waitFor();
  assert.equal(await row.locator("section").count(), 2);
  await row.getByRole("button", { name: "compare with v1" }).click();
  assert.match(await row.locator(".diff").textContent() ?? "", /~ count: 1 → 2/);
  await row.locator(".made summary").first().click();
  await row.locator(".made pre", { hasText: "count: 2" }).waitFor();
});

inBrowser("leads from a step to the whole value of a variable, line by line", {
  replies: [
    replyJson("const ran = { code: 1, stdout: Array.from({ length: 9000 }, (_, at) => `line ${at}`).join('\\n') }; 0"),
    final("Done"),
  ],
}, async ({ page }) => {
  await ask(page, "Run it");
  await page.locator(".done > footer > span").waitFor();
  await page.locator(".work > summary").click();
  await page.locator(".step .result > summary").first().click();
  await page.getByRole("button", { name: "variable ran" }).click();
  const viewer = page.locator("#viewer");
  await viewer.locator("h3", { hasText: "first 20,000 of" }).waitFor();
  await viewer.getByRole("button", { name: "Read the whole value" }).click();
  const shown = viewer.getByLabel("stdout");
  await shown.getByText("line 1\nline 2\n").waitFor();
  while (await shown.locator(".more").count() > 0) await shown.locator(".more").click();
  assert.match(await shown.innerText(), /^line 0\n[^]*\nline 8999$/);
});

const tasks = gated([
  replyJson("let $plan = [{ task: 'read', done: true }, 'write']"),
  replyJson("$plan = [{ task: 'read', done: true }, { task: 'write', done: true }, 'test']"),
  final("One task is open"),
], { at: 1 });

inBrowser("keeps the list of tasks of a request, also when the conversation is opened again", {
  rig: { engine: { provider: tasks.provider } },
}, async ({ page }) => {
  await ask(page, "Read, write and test");
  const plan = page.locator(".plan > summary");
  await plan.getByText("Tasks: 1 of 2 · now: write").waitFor();
  await page.reload();
  await plan.getByText("Tasks: 1 of 2 · now: write").waitFor();
  await accessible(page, "a list of tasks");
  tasks.open();
  await page.locator(".answer:not(.failed)", { hasText: "One task is open" }).waitFor();
  await page.locator(".done > footer > span").waitFor();
  assert.equal(await plan.innerText(), "Tasks: 2 of 3 done");
  await page.reload();
  await plan.getByText("Tasks: 2 of 3 done").waitFor();
  await plan.click();
  assert.deepEqual(await page.locator(".plan li").allInnerTexts(), ["✓ read", "✓ write", "○ test"]);
});

const unfinished = gated([replyJson("let $plan = [{ task: 'read', done: true }, 'write']"), final("never")], { at: 1 });

inBrowser("shows the tasks of a cancelled request as ended", {
  rig: { engine: { provider: unfinished.provider } },
}, async ({ page }) => {
  await ask(page, "Read and write");
  const plan = page.locator(".plan > summary");
  await plan.getByText("Tasks: 1 of 2 · now: write").waitFor();
  await unfinished.reached;
  await page.locator("#cancel").click();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await page.locator(".answer.stopped").waitFor();
    assert.equal(await plan.innerText(), "Tasks: 1 of 2 done · ended");
  }
  await plan.click();
  assert.deepEqual(await page.locator(".plan li").allInnerTexts(), ["✓ read", "○ write"]);
});

inBrowser("names the variables from which a variable was computed", {
  replies: [
    replyJson(["const rows = [1, 2]", "const total = rows[0] + rows[1]", "const mean = total / rows.length"]),
    final("{{mean}} is the mean"),
  ],
}, async ({ page }) => {
  await ask(page, "Mean");
  await page.locator(".answer", { hasText: "is the mean" }).waitFor();
  await openVariables(page);
  const of = (name: string) => page.locator(".variable", { has: page.locator(`code:text-is("${name}")`) });
  assert.match(await of("mean").innerText(), / · from (?:rows, total|total, rows)$/);
  assert.match(await of("total").innerText(), / · from rows$/);
  assert.doesNotMatch(await of("rows").innerText(), /from/);
});
