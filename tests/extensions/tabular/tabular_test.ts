import assert from "node:assert/strict";
import fc from "fast-check";
import { csv, markdown, number, parse } from "../../../extensions/tabular/table.ts";

Deno.test("parse() reads quotes, line ends and separators as written", () => {
  assert.deepEqual(parse('a,b\r\n1,"x, ""y""\nz"\r\n\r\n2,\n'), [{ a: "1", b: 'x, "y"\nz' }, { a: "2", b: "" }]);
  assert.deepEqual(parse('\ufeffa;b\n"1,5";2'), [{ a: "1,5", b: "2" }]);
  assert.deepEqual(parse("1\t2\n3\t", { header: false }), [["1", "2"], ["3", ""]]);
  assert.deepEqual(parse(""), []);
});

Deno.test("parse() refuses ambiguous text", () => {
  assert.throws(() => parse('a\n"x'), /record 2 has a quote that is not closed/);
  assert.throws(() => parse('a\n"x"y'), /record 2 has text after a closing quote/);
  assert.throws(() => parse("a\n1,2", { separator: "," }), /record 2 has 2 fields, but the header has 1/);
  assert.throws(() => parse("a,a\n1,2"), /two columns have the name "a"/);
  assert.throws(
    () => parse("data/sales.csv"),
    /data\/sales\.csv looks like a path; pass the text of the file, such as await fs\.readFile\("data\/sales\.csv"\)/,
  );
  assert.deepEqual(parse("name.csv\n1"), [{ "name.csv": "1" }]);
});

Deno.test("parse() reads the output of csv()", () => {
  const field = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", "\r\n", ";", " ", "é") });
  const records = fc.array(fc.oneof(fc.tuple(field), fc.tuple(field, field, field)), { minLength: 1 });
  fc.assert(fc.property(records, (lists) => {
    assert.deepEqual(parse(csv(lists), { header: false, separator: "," }), lists);
  }));
  assert.equal(csv([{ a: 1, b: null }, { a: "x,y", c: new Date(0) }]), 'a,b,c\n1,,\n"x,y",,1970-01-01T00:00:00.000Z\n');
  assert.equal(csv([]), "");
  assert.deepEqual(parse(csv([{ a: "" }, { a: "1" }, { a: null }])), [{ a: "" }, { a: "1" }, { a: "" }]);
});

Deno.test("markdown() names the columns", () => {
  const columns = { columns: ["a"] } as unknown as string[];
  assert.throws(
    () => markdown([{ a: 1 }], columns),
    /the columns are of type object, not a list of names; call tables\.markdown\(rows, \["a", "b"\]\)/,
  );
});

Deno.test("markdown() and number() are as a reader writes them", () => {
  assert.equal(
    markdown([{ name: "a|b", n: 1 }, { name: "c\nd", n: 20n }]),
    "| name | n |\n| --- | ---: |\n| a\\|b | 1 |\n| c<br>d | 20 |",
  );
  assert.equal(markdown([[1, 2]], ["x", "y"]), "| x | y |\n| ---: | ---: |\n| 1 | 2 |");
  assert.equal(markdown([{ a: 1, b: 2 }], ["b"]), "| b |\n| ---: |\n| 2 |");
  assert.deepEqual([number(1234.5, 2), number(1e6), number(0.12345), number(10n ** 20n)], [
    "1,234.50",
    "1,000,000",
    "0.123",
    "100,000,000,000,000,000,000",
  ]);
});
