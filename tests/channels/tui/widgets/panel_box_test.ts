import assert from "node:assert/strict";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { panelBox } from "../../../../src/channels/tui/frame.ts";
import type { Panel } from "../../../../src/channels/tui/panels/panel.ts";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";

const theme = makeTheme({ color: true, dark: null });
const told: number[] = [];
const panel = (lines: readonly string[], title = "A title", hint = "a hint"): Panel => ({
  ...{ title, hint, rows: 5, invalidate: () => {}, left: () => {}, handleInput: () => {} },
  fit: (rows) => void told.push(rows),
  render: () => [...lines],
});

Deno.test("panelBox() stands over the last rows, within every width", () => {
  const under = Array.from({ length: 10 }, (_, n) => `under ${n}`);
  const shown = panel(["one", "日本語".repeat(60), "\x1b[31mred"], "日本 title ".repeat(20), "hint ".repeat(50));
  for (const width of [200, 80, 40, 12, 6]) {
    const lines = panelBox(shown, { under, width, theme });
    assert.equal(lines.length, 10);
    assert.deepEqual(lines.slice(0, 5), under.slice(0, 5));
    for (const line of lines.slice(5)) assert.ok(visibleWidth(line) <= Math.min(width, 120), `${width}: ${line}`);
  }
  assert.equal(told.at(-1), 5);
  assert.match(stripTerminalSequences(panelBox(shown, { under, width: 40, theme })[6] ?? ""), /^│ one {34}│$/);
});

Deno.test("panelBox() leaves screens alone that have no room for it, and titles that command the terminal", () => {
  const under = ["a", "b"];
  assert.deepEqual(panelBox(panel(["x"]), { under, width: 40, theme }), under);
  const lines = panelBox(panel(["x"], "\x1b]0;owned\x07"), { under: ["", "", "", ""], width: 60, theme });
  assert.ok(!lines.join("\n").includes("\x1b]0;owned"));
});
