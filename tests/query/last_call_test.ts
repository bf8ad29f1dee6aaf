import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { runs } from "../helpers/long_part.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";
import { ANSWERS, EMPTY, FAILS, MISSING, PROSE, WORKS } from "./_play.ts";

const CUT: ScriptedReply = { text: WORKS, finish: "length" };
const BROKEN: ScriptedReply = '{"thinking": "t", "code": [{"expr": ';
const TWO = replyJson(["const b = 1", "nope()"], { final: "{{b}}" });
const KINDS: Readonly<Record<string, ScriptedReply>> = { WORKS, FAILS, EMPTY, PROSE, MISSING, CUT, BROKEN, TWO };

/** Returns sequences of at most two kinds, and long ones of one kind that fails, so that restarts are due. */
function sequences({ pairs }: { readonly pairs: boolean }): readonly (readonly string[])[] {
  const names = Object.keys(KINDS);
  const short = names.flatMap((first) => [[first], ...pairs ? names.map((second) => [first, second]) : []]);
  return [...short, ...[5, 9, 20].map((count) => Array<string>(count).fill("FAILS"))];
}

Deno.test("the last call has a header within the budget, and one sentence about its options, in every state", async () => {
  let seen = 0;
  const withPairs = runs(1, 2);
  for (const budget of [1, 2]) {
    const left: ScriptedReply[] = [];
    const next = (): Exclude<ScriptedReply, (request: never) => unknown> => {
      const reply = left.length > 1 ? left.shift() : left[0];
      return typeof reply === "function" || reply === undefined ? EMPTY : reply;
    };
    await using engine = await startEngine(Array<ScriptedReply>(5_000).fill(next), { settings: { budget } });
    for (const names of sequences({ pairs: budget <= withPairs })) {
      left.splice(0, left.length, ...names.map((name) => KINDS[name] ?? assert.fail()));
      const from = engine.provider.requests.length;
      await engine.ask("count");
      const contexts = engine.provider.requests.slice(from).map(({ context }) => context);
      for (const [call, context] of contexts.entries()) {
        const isLast = context.includes("this is the last call");
        checkHeader(context, isLast);
        if (!isLast) continue;
        seen++;
        assert.equal(call, contexts.length - 1);
        checkNotes(context);
      }
    }
  }
  assert.ok(seen > 30, `${seen} last calls`);
});

function checkHeader(context: string, isLast: boolean): void {
  const [, at = "", most = ""] = /^\[iter (\d+)\/(\d+)\]/.exec(context) ?? [];
  assert.ok(Number(at) <= Number(most), context.slice(0, 40));
  assert.equal(/^\[iter \d+\/\d+\] last call/.test(context), isLast);
}

function checkNotes(context: string): void {
  const [notes = "", rest = ""] = context.slice(context.indexOf("<notes>")).split("</notes>");
  const [, note = "", ...others] = notes.split("\n- ");
  assert.match(note, /: this is the last call and no block runs any more/);
  assert.equal(note.includes("whatever a note below asks for"), others.length > 0, context);
  for (const other of [...others, rest]) {
    assert.doesNotMatch(
      other,
      /start again|[Tt]he last call|last iteration|is left after|requestMoreIterations|\[system_nudge\]/,
    );
  }
}

Deno.test("a last call after several errors keeps the attempts, and does not start again", async () => {
  await using engine = await startEngine([...Array<ScriptedReply>(5).fill(FAILS), ANSWERS], {
    settings: { budget: 1 },
  });
  await engine.ask("count");
  const context = engine.context(5);
  assert.match(
    context,
    /^\[iter 1\/1\] last call 5 replies without a result\n<notes>\n- The iteration budget is used up: this/,
  );
  assert.match(context, /<journal>[^]*broken/);
});
