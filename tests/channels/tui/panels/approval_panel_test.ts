import assert from "node:assert/strict";
import { stripVTControlCharacters } from "node:util";
import { visibleWidth } from "@earendil-works/pi-tui";
import type { ApprovalAnswer } from "../../../../src/domain/query/approval.ts";
import { ApprovalPanel } from "../../../../src/channels/tui/panels/approval_panel.ts";
import { KEYS, PanelRig } from "./_rig.ts";
import { startEngine } from "../../../helpers/engine.ts";

async function withPanel(
  asked: string | { readonly what: string; readonly exact?: string; readonly change?: string },
  work: (panel: ApprovalPanel, answers: readonly ApprovalAnswer[], held: { active: boolean }) => void,
  lasting = true,
): Promise<void> {
  await using engine = await startEngine([]);
  const { parts } = new PanelRig(engine);
  const answers: ApprovalAnswer[] = [];
  const action = typeof asked === "string" ? { what: asked } : asked;
  const held = { active: true };
  const panel = new ApprovalPanel({
    ...parts,
    question: { id: "1", extension: "test", ...action, why: "", scope: `network for ${"a".repeat(40)}`, lasting },
    active: () => held.active,
    ready: () => false,
    answer: (answer) => void answers.push(answer),
    cancel: () => {},
  });
  work(panel, answers, held);
}

Deno.test("a command has a line of its own", async () => {
  await withPanel({ what: "run a command", exact: "npm view semver version" }, (panel) => {
    assert.deepEqual(panel.render(60).slice(0, 2).map((line) => line.trimEnd()), [
      "Allow Vis to run a command?",
      "  npm view semver version",
    ]);
  });
});

Deno.test("a change is a diff whose whole lines stay behind a bar", async () => {
  const change = `--- .env\n+++ .env\n@@ -2,1 +2,2 @@\n-[not shown]\n+KEY=4\n+${"x".repeat(1_100)}!\n  y  yes\n`;
  await withPanel({ what: "change .env", change }, (panel) => {
    panel.fit(100);
    const shown = panel.render(60).map((line) => stripVTControlCharacters(line).trimEnd());
    assert.deepEqual(shown.slice(0, 5), [
      "Allow Vis to change .env?",
      "  │ .env +2 −1",
      "  │ 2 - [not shown]",
      "  │ 2 + KEY=4",
      `  │ 3 + ${"x".repeat(52)}`,
    ]);
    assert.ok(shown.some((line) => /^ {2}│ +x+!$/.test(line)), "the end of a long line");
    assert.equal(shown.filter((line) => line.includes("yes")).filter((line) => !line.includes("│")).length, 3);
  });
});

Deno.test("a question that fits exactly is whole, and its answers need no scrolling", async () => {
  await withPanel({ what: "run a command", exact: "npm view semver version" }, (panel, answers) => {
    panel.fit(100);
    const lines = panel.render(60).map((line) => stripVTControlCharacters(line).trimEnd());
    panel.fit(lines.length - 1);
    const shown = panel.render(60).map((line) => stripVTControlCharacters(line).trimEnd());
    assert.deepEqual(shown, lines.filter((line) => line !== ""));
    panel.handleInput("y");
    assert.deepEqual(answers, [{ decision: "once", reason: "" }]);
  });
});

Deno.test("no key approves a request that was never drawn", async () => {
  await withPanel("x", (panel, answers) => {
    panel.handleInput("y");
    panel.handleInput(KEYS.enter);
    assert.deepEqual(answers, []);
    panel.render(40);
    panel.handleInput("y");
    assert.deepEqual(answers, [{ decision: "once", reason: "" }]);
  });
});

Deno.test("an approval that is asked every time has no key for a lasting answer", async () => {
  await withPanel("x", (panel, answers) => {
    const shown = panel.render(60).join("\n");
    assert.doesNotMatch(shown, /conversation|from now on/);
    panel.handleInput("a");
    panel.handleInput("c");
    assert.deepEqual(answers, []);
    panel.handleInput("y");
    assert.deepEqual(answers, [{ decision: "once", reason: "" }]);
  }, false);
});

Deno.test("no key approves a request before all of it was on the screen; refusing is always possible", async () => {
  const what = Array.from({ length: 60 }, (_, n) => `--flag${n}`).join(" ");
  await withPanel(what, (panel, answers) => {
    panel.fit(5);
    panel.render(40);
    panel.handleInput(KEYS.end);
    panel.render(40);
    panel.handleInput("y"); // The panel has not shown the middle of the text.
    assert.deepEqual(answers, []);
    panel.handleInput(KEYS.home);
    panel.render(40);
    for (let presses = 0; answers.length === 0 && presses < 30; presses++) {
      panel.handleInput("a"); // The first press of the key only scrolls the text.
      panel.render(40);
      if (presses < 3) assert.deepEqual(answers, []);
    }
    assert.deepEqual(answers, [{ decision: "workspace", reason: "" }]);
  });
  await withPanel(what, (panel, answers) => {
    panel.fit(5);
    panel.render(40);
    panel.handleInput("n");
    assert.deepEqual(answers, [{ decision: "no", reason: "" }]);
  });
});

Deno.test("every row of the question and of its choices can be reached in any size", async () => {
  const what = Array.from({ length: 30 }, (_, n) => `--flag${n}`).join(" ");
  await withPanel(what, (panel) => {
    for (const [width, height] of [[80, 30], [30, 8], [12, 3], [6, 1]] as const) {
      panel.handleInput(KEYS.home);
      panel.fit(height);
      const rows: string[] = [];
      for (let page = 0; page < 300; page++) {
        const shown = panel.render(width);
        assert.ok(shown.length <= height && shown.every((row) => visibleWidth(row) <= width));
        rows.push(...shown);
        panel.handleInput(KEYS.pageDown);
      }
      const text = rows.join("").replace(/\s/g, "");
      if (width > 10) { for (let n = 0; n < 30; n++) assert.ok(text.includes(`flag${n}`), `${n} at ${width}`); }
      assert.equal([...text.matchAll(/a/g)].length > 40, true);
    }
  });
});

Deno.test("a click chooses only while the panel has the keyboard", async () => {
  await withPanel("x", (panel, answers, held) => {
    held.active = false;
    panel.render(80);
    assert.equal(panel.press(4, true), false);
    held.active = true;
    panel.render(80);
    panel.press(1, true);
    panel.press(1, true);
    assert.deepEqual(answers, [{ decision: "no", reason: "" }]);
  });
});

Deno.test("every choice stays visible below a question that is longer than the panel", async () => {
  const exact = Array.from({ length: 60 }, (_, n) => `--flag${n}`.padEnd(70, "x")).join(" ");
  await withPanel({ what: "edit ../package.json", exact }, (panel, answers) => {
    panel.fit(14);
    const shown = (): string => panel.render(76).join("\n");
    const first = shown();
    assert.match(
      first,
      /edit \.\.\/package\.json[^]*--flag5x[^]*↓ \d+ more\S*\n❯ y [^]*\n {2}c [^]*\n {2}a [^]*\n {2}n [^]*\n {2}w /,
    );
    panel.handleInput(KEYS.pageDown);
    assert.doesNotMatch(shown(), /edit \.\.\/package/);
    assert.match(shown(), /↓ \d+ more\S*\n❯ y [^]*\n {2}w /);
    panel.handleInput(KEYS.end);
    assert.match(shown(), /--flag59x[^]*\n❯ y [^]*\n {2}w /);
    assert.doesNotMatch(shown(), /more/);
    panel.handleInput("w");
    assert.match(shown(), /--flag59x[^]*Why not\? /);
    assert.deepEqual(answers, []);
  });
});
