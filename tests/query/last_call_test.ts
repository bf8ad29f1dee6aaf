/** The last call says one thing, whatever happened before. */
import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { ANSWERS, EMPTY, FAILS, MISSING, PROSE, WORKS } from "./_play.ts";

const CUT: ScriptedReply = { text: WORKS, finish: "length" };
const BROKEN: ScriptedReply = '{"thinking": "t", "code": [{"expr": ';
const TWO = replyJson(["const b = 1", "nope()"], { final: "{{b}}" });
const KINDS: Readonly<Record<string, ScriptedReply>> = { WORKS, FAILS, EMPTY, PROSE, MISSING, CUT, BROKEN, TWO };

/** Sequences of at most two kinds, and long ones of one kind that fails, so that restarts are due. */
function sequences(): readonly (readonly string[])[] {
  const names = Object.keys(KINDS);
  const pairs = names.flatMap((first) => [[first], ...names.map((second) => [first, second])]);
  return [...pairs, ...[5, 9, 10, 20].map((count) => Array<string>(count).fill("FAILS"))];
}

Deno.test("the last call has a header within the budget, and one sentence on what it can do, in every state", async () => {
  let seen = 0;
  for (const names of sequences()) {
    for (const budget of [1, 2, 6]) {
      const replies = names.map((name) => KINDS[name] ?? assert.fail());
      await using engine = await startEngine([...replies, ...Array<ScriptedReply>(30).fill(replies.at(-1) ?? EMPTY)], {
        settings: { budget },
      });
      await engine.ask("count");
      const contexts = engine.provider.requests.map((_, call) => engine.context(call));
      for (const [call, context] of contexts.entries()) {
        const [, at = "", most = ""] = /^\[iter (\d+)\/(\d+)\]/.exec(context) ?? [];
        assert.ok(Number(at) <= Number(most), `${names}: ${context.slice(0, 40)}`);
        const isLast = context.includes("this is the last call");
        assert.equal(/^\[iter \d+\/\d+\] last call/.test(context), isLast);
        if (!isLast) continue;
        seen++;
        assert.equal(call, contexts.length - 1);
        const [, note = "", ...others] = context.slice(context.indexOf("<notes>")).split("</notes>")[0]?.split("\n- ") ?? [];
        assert.match(note, /: this is the last call and no block runs any more/);
        assert.equal(note.includes("whatever a note below asks for"), others.length > 0, context);
        for (const other of [...others, context.slice(context.indexOf("</notes>"))]) {
          assert.doesNotMatch(other, /start again|last iteration|is left after|requestMoreIterations|\[system_nudge\]/);
        }
      }
    }
  }
  assert.ok(seen > 30, `${seen} last calls`);
});

Deno.test("a last call after several errors keeps what was tried, and does not start again", async () => {
  await using engine = await startEngine([...Array<ScriptedReply>(5).fill(FAILS), ANSWERS], {
    settings: { budget: 1 },
  });
  await engine.ask("count");
  const context = engine.context(5);
  assert.match(context, /^\[iter 1\/1\] last call 5 replies without a result\n<notes>\n- The iteration budget is used up: this/);
  assert.match(context, /<journal>[^]*broken/);
});
