import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const LAST = replyJson([], { final: "It is finished." });
const FAILS = replyJson("throw new Error('broken')");

function earlierOf(context: string): string {
  return /<earlier>\n([^]*?)\n<\/earlier>/.exec(context)?.[1] ?? "";
}

Deno.test("a failed reply and a brief one leave earlier results in view, each under its iteration", async () => {
  await using engine = await startEngine([
    replyJson(["'r'.repeat(9000)", "print('two')"]),
    FAILS,
    replyJson("'brief'"),
    LAST,
  ]);
  await engine.ask("x");
  for (const call of [2, 3]) {
    const earlier = earlierOf(engine.context(call));
    assert.ok(earlier.includes(`  [1.1] 'r'.repeat(9000) → `) && /r{9000}/.test(earlier), earlier);
    assert.match(earlier, /\n {2}\[1\.2\] print\('two'\) → ok.*\n {6}stdout: two/);
  }
  assert.match(engine.context(2), /<\/earlier>\n<journal>\n {2}\[1\] throw new/);
  assert.match(earlierOf(engine.context(3)), /\n {2}\[2\.1\] throw new Error\('broken'\) → ERROR Error: broken/);
  assert.ok(!engine.context(3).includes("<attempts>"), "what is shown is not listed again");
});

Deno.test("earlier results fit into 6000 characters with the journal, the oldest are dropped first, attempts name them", async () => {
  const replies = Array.from({ length: 9 }, (_, n) => replyJson(`'${"abcdefghi"[n]}'.repeat(1500)`));
  await using engine = await startEngine([...replies, LAST], { settings: { budget: 12 } });
  await engine.ask("x");
  const context = engine.context(9);
  assert.deepEqual([..."abcdefghi"].filter((letter) => context.includes(letter.repeat(1500))), ["g", "h", "i"]);
  assert.ok(context.length < 8_000);
  const attempts = /<attempts>\n([^]*?)\n<\/attempts>/.exec(context)?.[1]?.split("\n") ?? [];
  assert.deepEqual(attempts.map((line) => line.slice(0, 2)), ["1:", "2:", "3:", "4:", "5:", "6:"]);
  const large = Array.from({ length: 3 }, (_, n) => replyJson(`'${"abc"[n]}'.repeat(4400)`));
  await using read = await startEngine([...large, LAST]);
  await read.ask("x");
  assert.equal(earlierOf(read.context(3)), "");
});

Deno.test("a row that a newer one repeats names that row instead of showing its result again", async () => {
  const read = "'read '.repeat(300)", other = "'read '.repeat(150) + 'read '.repeat(150)";
  await using engine = await startEngine([
    replyJson([read, "1"]),
    replyJson(other),
    replyJson([read, "2"]),
    replyJson("print('brief')"),
    LAST,
  ], { settings: { budget: 9 } });
  await engine.ask("x");
  const earlier = earlierOf(engine.context(4));
  assert.equal(earlier.match(/(?:read ){300}/g)?.length, 1, earlier);
  assert.match(earlier, /^ {2}\[1\.1\] → as \[3\.1\]\n {2}\[1\.2\] 1 → 1(?: {2}\(\d+ms\))?\n/);
  assert.ok(earlier.includes(`  [2.1] ${other} → as [3.1]\n`), earlier);
  assert.match(earlierOf(engine.context(3)), /^ {2}\[1\.1\] → as \[1\]\n/);
});

Deno.test("a row of an earlier result names no results[i], which are the journal's", async () => {
  await using engine = await startEngine([replyJson("'r'.repeat(30000)"), FAILS, LAST]);
  await engine.ask("x");
  const earlier = earlierOf(engine.context(2));
  assert.ok(/r{9000}/.test(earlier) && !earlier.includes("results["), earlier.slice(0, 200));
  assert.ok(engine.context(2).length < 26_000);
});

Deno.test("a reply that failed as a whole stays in every later prompt: the next reply has its number", async () => {
  await using engine = await startEngine([
    replyJson("'one'.repeat(2000)"),
    FAILS,
    replyJson("'two'.repeat(2000)"),
    replyJson("'three'.repeat(1200)"),
    LAST,
  ], { settings: { budget: 9 } });
  await engine.ask("x");
  for (const call of [2, 3, 4]) assert.match(engine.context(call), /broken/, `call ${call}`);
});

Deno.test("the header counts replies without a result after such a reply only", async () => {
  await using engine = await startEngine([FAILS, "no object", replyJson("1"), replyJson("2"), FAILS, LAST], {
    settings: { budget: 9 },
  });
  await engine.ask("x");
  const said = engine.provider.requests.map(({ context }) => /(\d+) repl/.exec(context.split("\n")[0] ?? "")?.[1]);
  assert.deepEqual(said, [undefined, "1", "2", undefined, undefined, "3"]);
});
