import assert from "node:assert/strict";
import fc from "fast-check";
import { LongStrings } from "../../../src/conversation/export/read_archive.ts";
import { anyText } from "../../helpers/any_text.ts";

function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let from = 0, at = 0; from < bytes.length; at++) {
    const size = sizes[at % sizes.length] ?? 1;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

Deno.test("LongStrings keeps every string of a JSON text, however it is escaped and wherever it is cut", async () => {
  const unit = fc.oneof(
    fc.constantFrom('"', "\\", "\n", "\u2028", "é", "日", "\u{1f600}", "\ud83d", "\\u0041", "\\\\", "/"),
    anyText({ maxLength: 5 }),
  );
  const string = fc.oneof(
    { weight: 3, arbitrary: anyText({ maxLength: 20 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.array(unit, { minLength: 1, maxLength: 6 }), fc.integer({ min: 3000, max: 40_000 }))
        .map(([units, count]) => `${units.join("")}x`.repeat(Math.ceil(count / (units.join("").length + 1)))),
    },
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, string, fc.integer(), fc.constant(null), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(fc.string({ maxLength: 4 }), tie("value"), { maxKeys: 4 }),
  })).value;
  const escaped = (text: string): string =>
    text.replace(/[^\u0020-\u007e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  await fc.assert(
    fc.asyncProperty(
      json,
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 4 }),
      async (value, isEscaped, sizes) => {
        const plain = JSON.stringify(value, null, isEscaped ? 0 : 2);
        const bytes = new TextEncoder().encode(isEscaped ? escaped(plain) : plain);
        using strings = await LongStrings.of(cut(bytes, sizes));
        assert.ok(strings.text.length < plain.length * 6 + 200);
        assert.deepEqual(strings.whole(JSON.parse(strings.text)), JSON.parse(plain));
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("LongStrings has long strings in a file, and takes no string of the JSON for one of them", async () => {
  const long = "x".repeat(1_000_000);
  using strings = await LongStrings.of([new TextEncoder().encode(JSON.stringify({ long, short: "y" }))]);
  assert.ok(strings.text.length < 200, strings.text);
  const { long: name } = JSON.parse(strings.text) as { long: string };
  using others = await LongStrings.of([new TextEncoder().encode(JSON.stringify({ name, long }))]);
  assert.deepEqual(others.whole(JSON.parse(others.text)), { name, long });
  using cutOff = await LongStrings.of([new TextEncoder().encode(`{"a":"${long}`)]);
  assert.throws(() => JSON.parse(cutOff.text), SyntaxError);
  using bad = await LongStrings.of([new Uint8Array([123, 0xff, 125])]);
  assert.throws(() => bad.text, TypeError);
});
