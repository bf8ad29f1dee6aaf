import assert from "node:assert/strict";
import { stripTerminalSequences, visibleWidth } from "@earendil-works/pi-tui";
import { StepEntry } from "../../../../src/channels/tui/entries/step_entry.ts";
import { DEFAULT_PREFS } from "../../../../src/channels/tui/prefs.ts";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";
import { blockResult, BlockTally } from "../../../../src/domain/query/host_call.ts";
import { newBlock, newStep, type StepBlock } from "../../../../src/domain/query/query_progress.ts";

const WIDE = "日本語のとても長い名前".repeat(12);

function drawn(block: Partial<StepBlock>, { width, whole = false }: { width: number; whole?: boolean }) {
  const step = { ...newStep(1), blocks: [{ ...newBlock(), ...block }], outcome: "executed" as const };
  const theme = makeTheme({ color: true, dark: null });
  return new StepEntry(step, () => ({ theme, prefs: DEFAULT_PREFS, whole, undone: new Set<string>() })).lines(width)
    .map(stripTerminalSequences);
}

function tallied(ok: boolean, refusedByUser = false): BlockTally {
  const action = { doing: "running", done: "ran", things: "commands", subject: WIDE.slice(0, 110) };
  return BlockTally.of([{ name: "shell.run", ok, refusedByUser, action, outcome: ok ? "" : "exit code 3" }]);
}

Deno.test("the line of a block fits in columns, keeps the outcome and the time, and shows that it is cut", () => {
  const result = blockResult({ ok: true, ms: 1_500 });
  for (const width of [100, 60, 40]) {
    for (const ok of [true, false]) {
      const [line = ""] = drawn({ code: "1", tally: tallied(ok), result }, { width });
      assert.ok(visibleWidth(line) <= width, line);
      assert.match(line, ok ? /…\s+1\.5 s$/ : /… · exit code 3 1\.5 s$/);
    }
    const [refused = ""] = drawn({ code: "1", tally: tallied(false, true), result }, { width });
    assert.ok(visibleWidth(refused) <= width && refused.endsWith("…: refused"), refused);
    const [code = ""] = drawn({ code: `call("${WIDE}")`, result }, { width });
    assert.ok(visibleWidth(code) <= width && /… 1\.5 s$/.test(code), code);
    const [, failed = ""] = drawn({ code: "1", tally: tallied(false), result }, { width, whole: true });
    assert.ok(visibleWidth(failed) <= width && failed.endsWith("… · exit code 3"), failed);
  }
});
