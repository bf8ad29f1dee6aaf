import assert from "node:assert/strict";
import { prepare } from "../block_runner.ts";

/** A block, and "variable < its sources" for each of its variables. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ["const doubled = base.map((x) => x * 2)\nconst sum = doubled.length\nconst text = `sum ${sum}`", [
    "doubled < base",
    "sum < doubled",
    "text < sum",
  ]],
  ["const a = b, c = d", ["a < b", "c < d"]],
  ["const { x, y: [z] } = point", ["x < point", "z < point"]],
  ["const list = []\nfor (const one of rows) list.push(one + step)", ["list < rows step"]],
  ["const list = []\nlist.push(...rows)\nconsole.log(list, other)", ["list < rows"]],
  ["let n = 0\nn += m\nn++", ["n < m"]],
  ["total = total + part", ["total < part"]],
  ["const twice = (x: number) => x * factor\nfunction half() { return twice(1) }", ["twice < factor", "half < twice"]],
  ["class A { b = c }", ["A < c"]],
  ["if (ready) { var late = found }", ["late < found"]],
  ["const seven = 7;\n({ seven, other })", ["seven <"]],
];

Deno.test("madeFrom() is null if the sources would make a report too large", () => {
  const names = Array.from({ length: 500 }, (_, at) => `v${at}`);
  for (const rest of [`if (a) f(${names.join(", ")})`, `f = [${names.join(", ")}]`]) {
    const block = prepare(`let ${names.map((name) => `${name} = 1`).join(", ")}\n${rest}`);
    assert.ok(block.ok);
    const { madeFrom } = block;
    assert.equal(madeFrom && Object.keys(madeFrom).length, rest.startsWith("if") ? null : 501);
  }
});

Deno.test("madeFrom() returns the sources of each variable of a block", () => {
  for (const [source, expected] of CASES) {
    const block = prepare(source);
    assert.ok(block.ok, source);
    const found = Object.entries(block.madeFrom ?? {}).map(([name, reads]) =>
      `${name} < ${reads.toSorted().join(" ")}`.trim()
    );
    assert.deepEqual(found, expected, source);
  }
});
