import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Route } from "playwright-core";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { onCall } from "../../channels/http/_rig.ts";
import { until } from "../../helpers/until.ts";
import { ask, inBrowser, inPage } from "./_browser.ts";
import { gated } from "./_gate.ts";

/** The model thinks until it is cancelled. */
const endless = { text: final("never"), delayMs: 60_000 };

const told = gated([replyJson("const a = 1"), final("{{a}} and more")], { at: 0 });
const late = gated([final("the first"), final("the second")], { at: 0 });

inBrowser("asks, streams and shows thinking, code, result and answer", {
  replies: [
    replyJson("const total = [3, 4].reduce((a, b) => a + b)", { thinking: "I add `them` up" }),
    final("It is {{total}}"),
  ],
}, async ({ page }) => {
  assert.equal(await page.locator("#folder").textContent(), "work");
  await ask(page, "Add 3 and 4");
  await page.locator(".turn .answer", { hasText: "It is 7" }).waitFor();
  assert.match(page.url(), /#c=[0-9a-f-]{36}$/);
  assert.equal(await page.locator(".work > summary").textContent(), "2 steps");
  await page.locator(".work > summary").click();
  const step = page.locator(".step").first();
  const thinking = step.locator(".thinking", { hasText: "I add them up" });
  assert.equal(await thinking.locator("code").innerText(), "them");
  assert.match(await step.locator(".result > summary").innerText(), /const total = [^]*→ 7/);
  assert.equal(await page.locator("#list a[aria-current]").count(), 1);
});

inBrowser("shows steps while they run, and cancels by Escape; the conversation continues after it", {
  replies: [
    replyJson("const kept = 41", { thinking: "First a part" }),
    endless,
    final("It was {{kept}}"),
    final("Again {{kept}}"),
  ],
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".running .step .result", { hasText: "41" }).waitFor();
  assert.match(await page.locator("#activity").textContent() ?? "", /^Step 2 of \d+ · /);
  assert.equal(await page.locator("#request").getAttribute("placeholder"), "Add instructions…");
  await page.locator("#request").press("Escape");
  await page.locator(".answer.failed").waitFor();
  assert.match(await page.locator(".done").innerText(), /Cancelled after 1 step/);
  assert.doesNotMatch(await page.locator(".done > footer").innerText(), /cancelled/i);
  await page.locator("#cancel").waitFor({ state: "hidden" });
  await page.locator(".turn.last").getByRole("button", { name: "continue" }).click();
  await page.locator(".answer", { hasText: "It was 41" }).waitFor();
  await ask(page, "And once more");
  await page.locator(".answer", { hasText: "Again 41" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 3);
  assert.equal(await page.getByRole("button", { name: "run again" }).filter({ visible: true }).count(), 1);
});

inBrowser("shows the step in which a request was cancelled, at once and after a reload", {
  replies: [replyJson("const kept = 41; await new Promise(() => {})")],
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".running .step pre span").first().waitFor(); // The code has colours once it runs.
  await page.locator("#request").press("Escape");
  await page.locator(".answer.failed").waitFor();
  for (const shown of [() => Promise.resolve(null), () => page.reload()]) {
    await shown();
    await page.locator(".work > summary", { hasText: "1 step" }).click();
    await page.locator(".step .result .refused", { hasText: "const kept = 41" }).waitFor();
  }
});

inBrowser("cancels by its button, and keeps the typed text when the server refuses", {
  replies: [endless],
}, async ({ page, rig, faults }) => {
  await ask(page, "Begin");
  await page.locator("#cancel").click();
  await page.locator(".answer.failed").waitFor();
  await page.locator("#cancel").waitFor({ state: "hidden" });
  await rig.engine.store.close();
  const refused = page.waitForResponse("**/messages");
  await ask(page, "This cannot be stored");
  assert.equal((await refused).ok(), false);
  await until(async () => await page.locator("#request").inputValue() === "This cannot be stored");
  await page.locator("#status.bad").waitFor();
  (faults as string[]).length = 0; // The browser reports each response that is an error.
});

inBrowser("passes messages that are sent meanwhile to a running query", {
  rig: { engine: { provider: told.provider } },
}, async ({ page, rig }) => {
  onCall(rig, "steer", told.open);
  await ask(page, "Begin");
  await page.locator(".turn.running").waitFor();
  await told.reached;
  await ask(page, "Mind the second part");
  await page.locator(".answer", { hasText: "1 and more" }).waitFor();
  assert.match(told.requests[1]?.context ?? "", /Mind the second part/);
  assert.equal(await page.locator(".turn").count(), 1);
  const meanwhile = page.locator(".meanwhile", { hasText: "Mind the second part" });
  await meanwhile.getByText("read by step 2").waitFor();
  assert.equal(await meanwhile.count(), 1);
  const places = "[...document.querySelectorAll('.meanwhile, .work')].map(({ classList }) => classList[0])";
  assert.deepEqual(await inPage(page, places), ["asked", "work"], "the message is before the fold that hides its step");
  await page.reload();
  await meanwhile.getByText("read by step 2").waitFor();
  assert.equal(await meanwhile.count(), 1);
  assert.deepEqual(await inPage(page, places), ["asked", "work"]);
  await page.locator(".work > summary").click();
  await page.locator(".step[data-step='2']").waitFor();
  const order = "[...document.querySelectorAll('.step, .meanwhile')].map(({ dataset }) => dataset.step ?? 'message')";
  assert.deepEqual(await inPage(page, order), ["1", "message", "2"]);
});

inBrowser("shows a message to a running query at once, as a request if the query ends before it is read", {
  rig: { engine: { provider: late.provider } },
}, async ({ page }) => {
  await ask(page, "Begin");
  await page.locator(".turn.running").waitFor();
  await late.reached;
  await ask(page, "Too late");
  await page.locator(".meanwhile", { hasText: "Too late" }).getByText("waits for the next step").waitFor();
  late.open();
  await page.locator(".turn.last .answer", { hasText: "the second" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 2);
  assert.equal(await page.locator(".meanwhile").count(), 0);
});

inBrowser("sends a request that is entered while an answer is still being read", {
  replies: [final("the first"), final("the second"), final("again the second")],
}, async ({ page }) => {
  const reads: Route[] = [];
  const hold = (route: Route): void => void reads.push(route);
  await page.route("**/queries?*", hold);
  await ask(page, "One");
  await page.locator(".answer", { hasText: "the first" }).waitFor();
  await until(() => reads.length > 0);
  await ask(page, "Two");
  await page.unroute("**/queries?*", hold);
  await page.locator(".turn.last .answer", { hasText: "the second" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 2);
  assert.equal(await page.locator("#request").inputValue(), "");
  await page.getByRole("button", { name: "run again" }).filter({ visible: true }).click();
  await page.locator(".turn.last .answer", { hasText: "again the second" }).waitFor();
});

inBrowser("forks at a step, shows both branches, and goes back", {
  replies: [replyJson("let n = 1"), replyJson("n = 2"), final("n is {{n}}"), final("here n is {{n}}")],
}, async ({ page }) => {
  await ask(page, "Count");
  await page.locator(".answer", { hasText: "n is 2" }).waitFor();
  const first = page.url();
  await page.locator(".work > summary").click();
  await page.getByRole("button", { name: "fork here, after step 1" }).click();
  await page.locator("#status", { hasText: "This is a new branch: your next request continues from here" }).waitFor();
  await page.locator("#branch").waitFor();
  assert.notEqual(page.url(), first);
  assert.equal(await page.locator("#branch option").count(), 2);
  await page.locator(".turn").waitFor();
  await ask(page, "What is n");
  await page.locator(".answer", { hasText: "here n is 1" }).waitFor();
  await page.locator("#branch option", { hasText: /^1: Count · / }).waitFor({ state: "attached" });
  await page.locator("#branch option", { hasText: /^2: What is n · / }).waitFor({ state: "attached" });
  await page.locator("#branch").selectOption({ index: 0 });
  await page.locator(".answer", { hasText: /^n is 2/ }).waitFor();
  assert.equal(await page.locator(".answer", { hasText: "here n is" }).count(), 0);
  await page.locator("#list a").first().click(); // The list opens the branch that was used last.
  await page.locator(".answer", { hasText: "here n is 1" }).waitFor();
});

inBrowser("runs the last request again", {
  replies: [final("The first answer"), final("The second answer")],
}, async ({ page }) => {
  await ask(page, "Say something");
  await page.locator(".answer", { hasText: "The first answer" }).waitFor();
  await page.getByRole("button", { name: "run again" }).click();
  await page.locator(".answer", { hasText: "The second answer" }).waitFor();
  assert.equal(await page.locator(".turn").count(), 1);
});

inBrowser("searches all texts, opens the place that was found, filters, renames, exports and deletes", {
  replies: [replyJson("const harvest = 'pears'"), final("{{harvest}} it is"), final("Nothing more")],
}, async ({ page }) => {
  await ask(page, "What grows");
  await page.locator(".answer", { hasText: "pears it is" }).waitFor();
  await page.locator("#new").click();
  await ask(page, "Another thing");
  await page.locator(".answer", { hasText: "Nothing more" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("harvest");
  await page.locator("#list .none").waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".hit", { hasText: "code" }).getByRole("link").first().click();
  await page.locator(".step[data-step='1'] pre", { hasText: "harvest" }).waitFor();
  assert.ok(await page.locator("#viewer").isHidden());
  await page.locator("#filter").fill("");
  await page.locator("#actions > summary").click();
  await page.locator("#rename").click();
  await page.locator("#ask-text").fill("Of fruit <b>");
  await page.keyboard.press("Enter");
  await page.locator("#list a", { hasText: "Of fruit <b>" }).waitFor();
  assert.equal(await page.locator("#title").textContent(), "Of fruit <b>");
  await page.locator("#actions > summary").click();
  for (const format of ["md", "html", "json"]) {
    const download = page.waitForEvent("download");
    await page.locator(`#export-${format}`).click();
    assert.match((await download).suggestedFilename(), new RegExp(`^Of fruit .*\\.${format}$`));
    await page.locator("#actions > summary").click();
  }
  await page.locator("#delete").click();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator("#title").textContent(), "Of fruit <b>");
  await page.locator("#actions > summary").click();
  await page.locator("#delete").click();
  await page.locator("#ask-yes").click();
  await page.locator(".hello").waitFor();
  await page.locator("#list a", { hasText: "Of fruit" }).waitFor({ state: "detached" });
});

inBrowser("opens an answer that the search has found at the answer", {
  replies: [final(`quince\n\n${"More of it\n\n".repeat(60)}`), final("Nothing more")],
}, async ({ page }) => {
  await ask(page, "What grows?\n".repeat(30));
  await page.locator(".answer", { hasText: "quince" }).waitFor();
  await page.locator("#new").click();
  await ask(page, "Another thing");
  await page.locator(".answer", { hasText: "Nothing more" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("quince");
  await page.keyboard.press("Enter");
  await page.locator(".hit a").click();
  await page.waitForFunction(`(() => {
    const answer = document.querySelector(".answer");
    const { top } = answer?.getBoundingClientRect() ?? {};
    return answer?.textContent.includes("quince") && top > -1 && top < 200;
  })()`);
  const above = await inPage<number>(page, 'document.querySelector(".turn").getBoundingClientRect().top');
  assert.ok(above < -100, `the request begins at ${above}`);
});

inBrowser("asks for another token where the server refuses its own, and keeps it out of the address", {
  replies: [final("In again")],
}, async ({ page, faults }) => {
  assert.doesNotMatch(page.url(), /token/);
  const token = await inPage<string>(page, 'sessionStorage.getItem("vis-token")');
  await inPage(page, 'sessionStorage.setItem("vis-token", "another-token-0123456789")');
  await page.locator("#token").waitFor();
  assert.match(await page.locator("#entry-why").textContent() ?? "", /rejected this token/);
  await page.locator("#token").fill(token);
  await page.locator("#token").press("Enter");
  await page.locator("#frame").waitFor();
  await ask(page, "y");
  await page.locator(".answer", { hasText: "In again" }).waitFor();
  assert.ok(faults.every((fault) => fault.includes("401")), faults.join("\n"));
  (faults as string[]).length = 0;
});

const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="),
  (char) => char.charCodeAt(0),
);

inBrowser("attaches images by choice, paste and drop, removes one, and sends the rest", {
  replies: [final("I see them")],
  rig: { engine: { scripted: { capabilities: { images: true } } } },
}, async ({ page, rig }) => {
  const files = (name: string) => ({ name, mimeType: "image/png", buffer: Buffer.from(PNG) });
  await page.locator("input[type=file]").setInputFiles([files("one.png"), files("two.png")]);
  const give = (kind: "paste" | "drop", name: string, type: string) =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(${JSON.stringify([...PNG])})], "${name}", { type: "${type}" }));
      const event = "${kind}" === "paste"
        ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
        : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      document.querySelector("#request").dispatchEvent(event);
    })()`);
  await give("paste", "three.png", "image/png");
  await give("drop", "four.png", "image/png");
  await page.getByRole("button", { name: "Remove four.png" }).waitFor();
  await give("drop", "five.txt", "text/plain");
  await page.locator("#status.bad", { hasText: "only PNG, JPEG, GIF and WebP images" }).waitFor();
  await page.getByRole("button", { name: "Remove two.png" }).click();
  await page.locator("#send").click();
  await page.locator(".answer", { hasText: "I see them" }).waitFor();
  const [asked] = rig.engine.provider.requests;
  assert.equal(asked?.messages.flatMap((message) => "images" in message ? message.images ?? [] : []).length, 3);
  assert.match(asked?.texts.join("\n") ?? "", /See the attached images\./);
  assert.equal(await page.locator("#attached").count(), 0);
  assert.equal(await page.locator(".asked small").textContent(), "3 images");
  await page.reload();
  assert.equal(await page.locator(".asked small").textContent(), "3 images");
});

inBrowser(
  "asks for a plan only while the box is ticked",
  { replies: [final("The plan: split it"), final("It is split")] },
  async (
    { page, rig },
  ) => {
    await page.locator("#plan").check();
    await ask(page, "Split it");
    await page.locator(".answer", { hasText: "The plan: split it" }).waitFor();
    await page.locator("#plan").uncheck();
    await ask(page, "go");
    await page.locator(".answer", { hasText: "It is split" }).waitFor();
    const planned = rig.engine.provider.requests.map(({ texts }) =>
      /Make a plan, and change nothing/.test(texts[0] ?? "")
    );
    assert.deepEqual(planned, [true, false]);
  },
);
