import assert from "node:assert/strict";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { footerLine, panelBox, statusLines, waitingLine } from "../../../src/channels/tui/frame.ts";
import type { Usage } from "../../../src/domain/query/query_schemas.ts";
import type { Panel } from "../../../src/channels/tui/panels/panel.ts";
import { fitted } from "../../../src/channels/tui/text/one_line.ts";
import { makeTheme } from "../../../src/channels/tui/text/theme.ts";

const theme = { ...makeTheme({ color: false, dark: null }), dim: (text: string) => text };
const usage: Usage = { input: 12_345, output: 678, cached: 0, reasoning: 0, calls: 2 };
const facts = {
  session: { provider: "anthropic", model: "model-9", workspace: "/home/me/src/日本語" },
  spent: { usage, costUsd: 0.0123, walls: ["realm", "permissions", "process", "kernel"], steps: 7, sentBytes: 12_345 },
  steps: { used: 3, budget: 20 },
  git: "main*",
  home: "/home/me",
};

Deno.test("footerLine() shows model, walls, branch, steps, size, cost and folder", () => {
  assert.equal(
    footerLine(facts, { width: 120, theme }),
    " anthropic model-9 · walled · git main* · step 3 of 20 · 12.3 KB · $0.01 · ~/src/日本語",
  );
  const { steps: _, ...idle } = facts;
  assert.match(
    footerLine({ ...facts, budget: { reasoning: "deep", costUsd: 0.5, steps: 20 } }, { width: 120, theme }),
    / model-9 · thinking deep · budget \$0\.50 · budget 20 steps · walled · /,
  );
  const at = (walls: string[]): string =>
    footerLine({ ...idle, git: "", spent: { ...facts.spent, walls } }, { width: 120, theme });
  assert.equal(at(["realm"]), " anthropic model-9 · partly walled · 7 steps · 12.3 KB · $0.01 · ~/src/日本語");
  assert.match(at([]), / · no walls · /);
});

Deno.test("footerLine() marks estimates and an unknown price", () => {
  const line = (spent: Partial<typeof facts.spent> | { readonly costUsd: null }) =>
    footerLine({ ...facts, spent: { ...facts.spent, ...spent } }, { width: 120, theme });
  assert.match(line({ usage: { ...usage, estimated: 1 } }), / · about \$0\.01 · /);
  assert.match(line({ costUsd: null }), / · price unknown · /);
});

Deno.test("footerLine() omits parts that do not fit, and never exceeds a line", () => {
  for (const width of [80, 60, 40, 20, 5, 1]) {
    const line = footerLine(facts, { width, theme });
    assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
  }
  assert.match(footerLine(facts, { width: 60, theme }), /^ anthropic model-9 · walled · git main\* · step 3 of 20/);
  const evil = { ...facts, session: { ...facts.session, model: "\x1b[2Jm" } };
  assert.ok(!footerLine(evil, { width: 80, theme }).includes("\x1b[2J"));
});

Deno.test("footerLine() is one line, whatever the name of the folder is", () => {
  const broken = { ...facts, session: { ...facts.session, workspace: "/src/a\nb\tc" } };
  assert.match(footerLine(broken, { width: 120, theme }), / · \/src\/a b c$/);
});

Deno.test("footerLine() shortens the home folder of every system, and no name with the same beginning", () => {
  const of = (workspace: string, home: string): string =>
    footerLine({ ...facts, home, session: { ...facts.session, workspace } }, { width: 200, theme });
  assert.ok(of("C:\\Users\\me\\src", "C:\\Users\\me").endsWith(" ~\\src"));
  assert.ok(of("/home/me2/src", "/home/me").endsWith(" /home/me2/src"));
});

const coloured = makeTheme({ color: true, dark: null });
const told: number[] = [];
const panel = (lines: readonly string[], title = "A title", hint = "a hint"): Panel => ({
  ...{ title, hint, rows: 5, invalidate: () => {}, left: () => {}, handleInput: () => {} },
  fit: (rows) => void told.push(rows),
  render: () => [...lines],
});

Deno.test("a waiting message of wide characters fits into its line, which says when the model reads it", () => {
  const message = { text: "日本語のとても長い文章".repeat(20), steers: true, isOwn: true };
  for (const width of [100, 60, 40]) {
    const line = waitingLine(message, { width, theme });
    assert.ok(visibleWidth(line) <= width, line);
    assert.match(line, width === 40 ? /… \(waits for the/ : /… \(waits for the next step, ↑ to edit\)$/);
  }
});

Deno.test("panelBox() fits into its room, at every width", () => {
  const shown = panel(["one", "日本語".repeat(60), "\x1b[31mred"], "日本 title ".repeat(20), "hint ".repeat(50));
  for (const width of [200, 80, 40, 12, 6]) {
    const lines = panelBox(shown, { room: 10, width, theme: coloured });
    assert.equal(lines.length, 5);
    for (const line of lines) assert.ok(visibleWidth(line) <= Math.min(width, 120), `${width}: ${line}`);
  }
  assert.equal(told.at(-1), 5);
  assert.match(
    stripTerminalSequences(panelBox(shown, { room: 10, width: 40, theme: coloured })[1] ?? ""),
    /^│ one {34}│$/,
  );
});

Deno.test("panelBox() leaves rows for the end of the conversation if the panel asks for it", () => {
  for (const [room, rows] of [[24, 18], [16, 10], [8, 4], [3, 1]] as const) {
    panelBox({ ...panel(["x"]), rows: 30, keepsEnd: true }, { room, width: 40, theme: coloured });
    assert.equal(told.at(-1), rows);
  }
});

Deno.test("panelBox() is omitted on screens without room for it, and its title cannot command the terminal", () => {
  assert.deepEqual(panelBox(panel(["x"]), { room: 2, width: 40, theme: coloured }), []);
  const lines = panelBox(panel(["x"], "\x1b]0;owned\x07"), { room: 4, width: 60, theme: coloured });
  assert.ok(!lines.join("\n").includes("\x1b]0;owned"));
});

Deno.test("statusLines() shows a long message on up to three rows, and one row on a low terminal", () => {
  const told = `Undid changes in ${Array.from({ length: 40 }, (_, at) => `src/file${at}.ts`).join(", ")}`;
  const status = { phase: "", ms: 0, asks: false, told, following: true, mode: "" };
  const lines = statusLines(status, { width: 60, theme });
  assert.match(lines.join("\n"), /^ Undid changes in src\/file0\.ts,.*\n .*src\/file4\.ts.*\n .*…$/);
  assert.ok(lines.every((line) => visibleWidth(line) <= 60), lines.join("\n"));
  assert.equal(statusLines(status, { width: 60, theme, most: 1 }).length, 1);
  assert.equal(statusLines({ ...status, told: "Copied 3 characters" }, { width: 60, theme }).length, 1);
  for (const length of [56, 57, 58, 59]) {
    const fits = statusLines({ ...status, told: `${"x".repeat(length - 8)} the end` }, { width: 60, theme }).join("\n");
    assert.match(fits, /the\s+end\s*$/, `${length}`);
    assert.doesNotMatch(fits, /…/);
  }
});

Deno.test("statusLines() shows a message above the running work", () => {
  const status = {
    phase: "retrying in 1 s",
    ms: 2_000,
    asks: false,
    told: "Thinking: quick",
    following: false,
    mode: "",
  };
  const lines = statusLines(status, { width: 60, theme });
  assert.match(lines.join("\n"), /^ Thinking: quick\n \S retrying in 1 s · 2 s · Esc cancels +↓ End$/);
  assert.equal(statusLines(status, { width: 60, theme, most: 1 }).length, 1);
});

Deno.test("statusLines() keeps the time and the key, however long the running command is", () => {
  const status = {
    phase: `running ${"word ".repeat(60)}`,
    ms: 5_200,
    asks: false,
    told: "",
    following: true,
  };
  for (const width of [40, 80, 140]) {
    const [line = ""] = statusLines({ ...status, mode: "" }, { width, theme });
    assert.match(line, /running .*… · 5 s · Esc cancels *$/);
    assert.ok(visibleWidth(line) <= width, `${width}: ${line}`);
  }
  assert.ok(visibleWidth(statusLines({ ...status, mode: "NORMAL" }, { width: 12, theme }).join("\n")) <= 12);
});

Deno.test("fitted() ends with one ellipsis, even if the cut comes right after another one", () => {
  assert.equal(fitted("committed feat(api): … and more", { width: 24 }), "committed feat(api): …");
  assert.equal(fitted("abc", { width: 5, pad: true }), "abc  ");
});
