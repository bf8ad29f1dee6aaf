import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonMeter, JsonTooLarge, readForeignJson } from "../../../src/domain/text/read_foreign_json.ts";

Deno.test("readForeignJson() reads every JSON text as JSON.parse does", () => {
  fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(readForeignJson(text), JSON.parse(text))), { seed: 3 });
  assert.throws(() => readForeignJson("[1,"), SyntaxError);
});

Deno.test("readForeignJson() refuses too many values and levels before it parses", () => {
  const limits = { values: 10, depth: 3 };
  const refused = (limit: string) => (error: unknown) => error instanceof JsonTooLarge && error.limit === limit;
  assert.deepEqual(readForeignJson("[0,0,0,0,0,0,0,0,0,0]", limits), Array(10).fill(0));
  assert.throws(() => readForeignJson("[0,0,0,0,0,0,0,0,0,0,0]", limits), refused("values"));
  assert.throws(
    () => readForeignJson("[],[],[],[],[],[],[]", limits),
    refused("values"),
    "in text that is no JSON too",
  );
  assert.throws(() => readForeignJson('{"a":{"a":{"a":{"a":1}}}}', limits), refused("depth"));
  assert.equal(readForeignJson(`"${"[{,".repeat(100)}"`, limits), "[{,".repeat(100));
  assert.equal(readForeignJson(JSON.stringify('\\"[[[[[[[['), limits), '\\"[[[[[[[[');
});

Deno.test("JsonMeter lets every ordinary value be, whatever its strings hold, and text that ends early", () => {
  const read = (text: string): void => new JsonMeter({ values: 100_000, depth: 200 }).push(text);
  fc.assert(fc.property(fc.json({ maxDepth: 20 }), read), { numRuns: 300, seed: 8 });
  read(JSON.stringify(["[".repeat(1_000), '\\"[{'.repeat(1_000), "\\", '"']));
  for (const text of ["[]".repeat(1_000), '"[[[', '"\\', ""]) read(text);
});

Deno.test("JsonMeter counts the same however the text is cut", () => {
  const limits = { values: 4, depth: 9 };
  for (const text of ['["\\"[,,,,", 1, 2]', '["a\\\\", [], [], []]']) {
    for (let at = 0; at <= text.length; at++) {
      const whole = outcome(() => new JsonMeter(limits).push(text));
      const meter = new JsonMeter(limits);
      assert.equal(outcome(() => [text.slice(0, at), text.slice(at)].forEach((part) => meter.push(part))), whole);
    }
  }
});

function outcome(run: () => void): string {
  try {
    run();
    return "within";
  } catch {
    return "over";
  }
}
