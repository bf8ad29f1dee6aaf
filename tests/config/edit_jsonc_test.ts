import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJsonc, removeFromJsonc, setInJsonc as setAt } from "../../src/config/jsonc.ts";
import { runs } from "../helpers/long_part.ts";

const valueOf = (text: string): unknown => parseJsonc({ path: "x", text });

const setInJsonc = (text: string, ...[path, value]: [readonly string[], unknown]) => setAt(text, { path, value });

const FILE = `// Mine
{
  // which model
  "model": "a", // the good one
  /* money */ "budget": {
    "iterations": 7, // enough
    "ceiling": 20 // no more
  },
  "shell": { "deny": ["rm *"] }
}
`;

Deno.test("setInJsonc() replaces a value and keeps every other character", () => {
  assert.equal(setInJsonc(FILE, ["model"], "b"), FILE.replace('"a"', '"b"'));
  assert.equal(setInJsonc(FILE, ["budget", "iterations"], 9), FILE.replace("7,", "9,"));
  assert.equal(setInJsonc(FILE, ["shell", "deny", "0"], "x"), FILE.replace("rm *", "x"));
});

Deno.test("setInJsonc() makes a missing list for its first entry", () => {
  assert.deepEqual(JSON.parse(setInJsonc("", ["hooks", "end", "0"], "x")), { hooks: { end: ["x"] } });
  assert.deepEqual(JSON.parse(setInJsonc('{ "a": 1 }', ["providers", "0", "name"], "x")), {
    a: 1,
    providers: [{ name: "x" }],
  });
});

Deno.test("setInJsonc() adds a member after the last one, whose comment stays with it", () => {
  assert.equal(
    setInJsonc(FILE, ["budget", "tokens"], 5),
    FILE.replace('"ceiling": 20 // no more', '"ceiling": 20, // no more\n    "tokens": 5'),
  );
  assert.equal(
    setInJsonc(FILE, ["context", "attempts"], 3),
    FILE.replace('["rm *"] }', '["rm *"] },\n  "context": {\n    "attempts": 3\n  }'),
  );
  assert.equal(setInJsonc(FILE, ["shell", "read"], ["/a"]), FILE.replace('["rm *"] }', '["rm *"], "read": ["/a"] }'));
  assert.equal(setInJsonc(FILE, ["shell", "deny", "1"], "x"), FILE.replace('"rm *"', '"rm *", "x"'));
});

Deno.test("setInJsonc() keeps a trailing comma, and fills an empty object", () => {
  assert.equal(setInJsonc('{\n  "a": 1, // x\n}', ["b"], 2), '{\n  "a": 1, // x\n  "b": 2,\n}');
  assert.equal(setInJsonc('{ "a": 1, }', ["b"], 2), '{ "a": 1, "b": 2, }');
  for (const blank of ["", " \n"]) assert.equal(setInJsonc(blank, ["a", "b"], 1), '{\n  "a": {\n    "b": 1\n  }\n}\n');
  assert.equal(setInJsonc("{}", ["a"], 1), '{\n  "a": 1\n}');
  assert.equal(setInJsonc("{\n  // nothing yet\n}\n", ["a"], 1), '{\n  // nothing yet\n  "a": 1\n}\n');
  assert.equal(setInJsonc("\ufeff{}", ["a"], 1), '\ufeff{\n  "a": 1\n}');
});

Deno.test("setInJsonc() refuses a path into a value that has no members", () => {
  assert.throws(() => setInJsonc(FILE, ["model", "x"], 1), RangeError);
  assert.throws(() => setInJsonc(FILE, ["shell", "deny", "5"], 1), RangeError);
});

Deno.test("removeFromJsonc() removes only the line with its comment", () => {
  assert.equal(removeFromJsonc(FILE, ["model"]), FILE.replace('  "model": "a", // the good one\n', ""));
  const rest = FILE.replace('7, // enough\n    "ceiling": 20 // no more', "7 // enough");
  assert.equal(removeFromJsonc(FILE, ["budget", "ceiling"]), rest);
  assert.equal(removeFromJsonc(FILE, ["shell", "deny"]), FILE.replace('{ "deny": ["rm *"] }', "{  }"));
  assert.equal(removeFromJsonc(FILE, ["shell", "nothing"]), FILE);
  assert.equal(removeFromJsonc(FILE, ["no", "such"]), FILE);
  assert.equal(removeFromJsonc('{ "a": 1, "b": 2 }', ["b"]), '{ "a": 1 }');
  assert.equal(removeFromJsonc('{ "a": 1, "b": 2 }', ["a"]), '{ "b": 2 }');
});

const key = fc.constantFrom("a", "b", "c", '"q"', "//", "1");
const blank = fc.constantFrom("", " ", "\n  ", " // note\n", "/* , } */");
const value: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.json({ maxDepth: 0 }),
    fc.tuple(
      fc.uniqueArray(fc.tuple(key, blank, tie("value"), blank), { selector: ([k]) => k, maxLength: 3 }),
      fc.boolean(),
      blank,
    )
      .map(([members, trailing, end]) => {
        const text = members.map(([k, before, v, after]) => `${before}${JSON.stringify(k)}:${v}${after}`).join(",");
        return `{${text}${trailing && members.length > 0 ? "," : ""}${end}}`;
      }),
  ),
})).value;

function expected(root: unknown, path: readonly string[], put: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return put;
  const object: Record<string, unknown> = { ...Object(root) };
  return { ...object, [step]: expected(Object.hasOwn(object, step) ? object[step] : {}, rest, put) };
}

Deno.test("setInJsonc() sets the value in any surrounding text; removing it restores the rest", () => {
  const object = value.filter((text) => text.startsWith("{"));
  fc.assert(
    fc.property(object, fc.array(key, { minLength: 1, maxLength: 3 }), fc.json({ maxDepth: 1 }), (text, path, put) => {
      const before = valueOf(text);
      let edited: string;
      try {
        edited = setInJsonc(text, path, JSON.parse(put));
      } catch (error) {
        assert.ok(error instanceof RangeError);
        return;
      }
      assert.deepEqual(valueOf(edited), expected(before, path, JSON.parse(put)));
      const removed = valueOf(removeFromJsonc(edited, path));
      assert.equal(JSON.stringify(removed).includes("undefined"), false);
      assert.deepEqual(valueOf(setInJsonc(removeFromJsonc(edited, path), path, 1)), expected(before, path, 1));
    }),
    { numRuns: runs(125, 500) },
  );
});
