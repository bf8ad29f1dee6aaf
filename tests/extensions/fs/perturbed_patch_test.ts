import assert from "node:assert/strict";
import { runs } from "../../helpers/long_part.ts";
import fc from "fast-check";
import { unifiedDiff } from "../../../extensions/fs/patch/unified_diff.ts";
import { HostCallError } from "../../../src/domain/errors.ts";
import { Workspace } from "./_workspace.ts";

const LINES = ["one", "two", "three", "four", "five", "", "-x", "+x", "  y", "\tz", "-- ", "@@", "\\ x", "```", "diff"];
const lines = fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 20 });
/** Each line is in the file once, so that a hunk has one place. */
const numbered = lines.map((all) => all.map((line, at) => line === "" ? "" : `${line} ${at}`));

const texts = fc.record({
  lines: numbered,
  edits: fc.array(fc.record({ at: fc.nat(20), gone: fc.nat(2), line: fc.constantFrom(...LINES) }), {
    minLength: 1,
    maxLength: 3,
  }),
  hasSecond: fc.boolean(),
}).map(({ lines, edits, hasSecond }) => {
  const now = [...lines];
  for (const { at, gone, line } of edits) now.splice(at, gone, `${line} new`);
  return { before: `${lines.join("\n")}\n`, after: `${now.join("\n")}\n`, hasSecond };
}).filter(({ before, after }) => before !== after);

type Damage = (lines: string[], at: number) => void;
const DAMAGES: Readonly<Record<string, Damage>> = {
  "a blank before a line of context": (lines, at) => {
    const context = lines.flatMap((line, by) => line.startsWith(" ") ? [by] : []);
    const by = context[at % Math.max(1, context.length)];
    if (by !== undefined) lines[by] = lines[by]?.slice(1) ?? "";
  },
  "a line": (lines, at) => void lines.splice(at % lines.length, 1),
  "a count": (lines, at) => {
    const headers = lines.flatMap((line, by) => line.startsWith("@@ -") ? [by] : []);
    const by = headers[at % Math.max(1, headers.length)] ?? -1;
    let seen = 0;
    lines[by] = lines[by]?.replace(/,(\d+)/g, (whole, count) => seen++ === at % 2 ? `,${Number(count) + 1}` : whole) ??
      "";
  },
};

Deno.test("fs.patch() of a damaged patch changes all that the patch changes, or nothing", async () => {
  let [applied, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom(...Object.keys(DAMAGES)), fc.nat(200), async (given, kind, at) => {
      const first = await unifiedDiff("a.txt", given);
      const second = given.hasSecond ? await unifiedDiff("b.txt", { before: "x\n", after: "y\n" }) : "";
      const lines = `${first}${second}`.split("\n").slice(0, -1);
      DAMAGES[kind]?.(lines, at);
      await using workspace = await Workspace.with({ "a.txt": given.before, "b.txt": "x\n" });
      const all = async () => [await workspace.names(), await workspace.text("a.txt"), await workspace.text("b.txt")];
      const fault = await workspace.call("patch", `${lines.join("\n")}\n`).then(() => null, (error: unknown) => error);
      if (fault === null) {
        applied++;
        const wanted = [["a.txt", "b.txt"], given.after, given.hasSecond ? "y\n" : "x\n"];
        assert.deepEqual(await all(), wanted, lines.join("\n"));
        return;
      }
      refused++;
      assert.ok(fault instanceof HostCallError);
      assert.match(fault.message, /^Cannot (?:apply|patch) /);
      assert.deepEqual(await all(), [["a.txt", "b.txt"], given.before, "x\n"], lines.join("\n"));
    }),
    { numRuns: runs(70, 300) },
  );
  assert.ok(applied > 10 && refused > 10, `${applied} ${refused}`);
});
