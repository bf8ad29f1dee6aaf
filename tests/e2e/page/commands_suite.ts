import assert from "node:assert/strict";
import { backgroundCommands } from "../../helpers/background_command.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { accessible } from "./_axe.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";

const two = backgroundCommands();

inBrowser("shows the commands in the background: their number, time, last line and output, and stops them", {
  rig: { engine: two.engine },
  replies: [replyJson('commands.start("npm run dev"); commands.start("tail -f log")'), final("Started")],
}, async ({ page, tab }) => {
  await ask(page, "Begin");
  const line = page.locator("#commands > summary");
  await page.locator("#commands > summary", { hasText: "2 commands run in the background" }).waitFor();
  two.print("building\nready on 5173\n");
  await line.click();
  const first = page.locator("#commands li", { hasText: "npm run dev" });
  await first.locator(".last", { hasText: "ready on 5173" }).waitFor();
  assert.match(await first.locator(".time").innerText(), /^\d+ s$/);
  await accessible(page, "the list of commands");
  await first.locator("summary").click();
  await first.locator("pre", { hasText: "building" }).waitFor();
  await accessible(page, "the output of a command");
  const other = await tab(new URL(page.url()).hash.replace("#", "&"));
  await other.locator("#commands > summary", { hasText: "2 commands run" }).waitFor();
  await first.getByRole("button", { name: "Stop npm run dev" }).click();
  await page.locator("#commands > summary", { hasText: "1 command runs in the background" }).waitFor();
  await first.locator(".time", { hasText: "ended" }).waitFor();
  assert.match(await first.locator("pre").innerText(), /ready on 5173/);
  await page.getByRole("button", { name: "Stop tail -f log" }).click();
  await page.locator("#commands > summary", { hasText: "The command has ended" }).waitFor();
  await line.click();
  await page.locator("#commands").waitFor({ state: "detached" });
});

const one = backgroundCommands();

inBrowser("/jobs opens the commands in the background, and another conversation does not show them", {
  rig: { engine: one.engine },
  replies: [replyJson('commands.start("npm run dev")'), final("Started")],
}, async ({ page }) => {
  await ask(page, "/jobs");
  await page.locator("#status", { hasText: "Cannot run /jobs: no command runs in the background" }).waitFor();
  await ask(page, "Begin");
  await page.locator("#commands").waitFor();
  await page.locator(".done > footer").waitFor();
  await ask(page, "/jobs");
  await page.locator("#commands[open]").waitFor();
  await page.locator("#new").click();
  await page.locator("#commands").waitFor({ state: "detached" });
});

const phone = backgroundCommands();

inBrowser("shows the whole time of a command with a long line on a phone", {
  rig: { engine: phone.engine },
  replies: [replyJson('commands.start("node packages/slug/server.js --port 5173 --verbose")'), final("Started")],
  context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator("#commands > summary").click();
  await page.locator("#commands .time", { hasText: "s" }).waitFor();
  assert.ok(
    await inPage(
      page,
      "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('#commands .time'))",
    ),
  );
});
