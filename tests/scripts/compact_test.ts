import assert from "node:assert/strict";
import fc from "fast-check";
import { compact } from "../../scripts/compact.ts";

const CASES: readonly (readonly [what: string, code: string, expected: string])[] = [
  ["indentation and empty lines", "if (a) {\n\n    b();\n  }\n", "if(a){\nb();\n}"],
  ["comments", "a(/* x */ 1); // y\n/* z */ b();", "a(1);\nb();"],
  ["words", "const  a = typeof  b in  c;", "const a=typeof b in c;"],
  ["names that are no ASCII", "let  é = 1;\nreturnä (é);", "let é=1;\nreturnä(é);"],
  ["private names", "class A { #b; static  #c = #b  in  x }", "class A{#b;static #c=#b in x}"],
  ["plus and minus", "a + +b - -c; a++ + ++b; a - b", "a+ +b- -c;a++ + ++b;a-b"],
  ["what begins no comment", "a / /b/.c; a / b; x < !--y", "a/ /b/.c;a/b;x< !--y"],
  ["a regular expression before a word", "/a b/  in c; /a b/g  in c", "/a b/ in c;/a b/g in c"],
  ["a number before a point", "1 .toString(); 1. + 2; a ? .5 : b", "1 .toString();1. +2;a? .5:b"],
  ["strings and templates", 'f("a  b", `c  ${ d  + `\n  e` }  f`)', 'f("a  b",`c  ${d+`\n  e`}  f`)'],
  ["a comment over two lines, which ends a line", "let a = b /*\n*/ ++c", "let a=b\n++c"],
  ["separators of lines", "let a = b\u2028++c\r\nd", "let a=b\n++c\nd"],
  ["arrows, spreads, defaults", "( { a = 1, ...b } ) => ( { } )", "({a=1,...b})=>({})"],
  ["optional parts", "a ?. b ?? c ?. [ 0 ]", "a?.b??c?.[0]"],
];
for (const [what, code, expected] of CASES) {
  Deno.test(`compact() keeps the meaning: ${what}`, () => assert.equal(compact(code), `${expected}\n`));
}

Deno.test("compact() keeps names and the code of each line, for stack traces", () => {
  const code =
    "function outer() {\n  // why\n  const inner = () => {\n    throw new Error( 'x' );\n  };\n  inner();\n}\n";
  assert.deepEqual(compact(code).split("\n"), [
    "function outer(){",
    "const inner=()=>{",
    "throw new Error('x');",
    "};",
    "inner();",
    "}",
    "",
  ]);
});

Deno.test("compact() keeps the names of files and licences, each on its line", () => {
  const code =
    "// src/domain/a.ts\nlet a = 1;\n// npm:zod@4.6.7/v4/core/api.js\n/*! by X */\n  // src/not/one.ts\nlet b;\n" +
    "/** Does. */\nlet c = /* @license Y */ 2; // see a.ts\n// Copyright Z";
  const expected = "// src/domain/a.ts\nlet a=1;\n// npm:zod@4.6.7/v4/core/api.js\n/*! by X */\nlet b;\n" +
    "let c=/* @license Y */2;\n// Copyright Z\n";
  assert.equal(compact(code), expected);
});

Deno.test("compact() accepts a module without code", () => {
  for (const code of ["", "\n", "// a\n"]) assert.equal(compact(code), "\n");
});

Deno.test("compact() refuses text that is no module", () => {
  assert.throws(() => compact("let a = ;"), SyntaxError);
});

Deno.test("compact() makes the same program of any gaps, and finds nothing more the second time", () => {
  const operand = fc.constantFrom("a", "1", "1.5", "'s '", "`t ${u}  v`", "/r /g", "(b)", "[c]", "{}", "(class G {})");
  const operator = fc.constantFrom(
    "+",
    "-",
    "/",
    "*",
    "<",
    "%",
    "&&",
    "in",
    ",",
    "=== -",
    "+ +",
    "- !",
    "? e :",
    "; x =",
  );
  const gap = fc.constantFrom(" ", "\n", "  // c\n", " /* d */ ", "\t/* e\n*/ ");
  fc.assert(fc.property(fc.array(fc.tuple(operand, gap, operator, gap), { maxLength: 8 }), operand, (parts, last) => {
    const code = `x = ${parts.flat().join("")}${last};`;
    const result = compact(code);
    assert.ok(result.length <= code.length);
    assert.equal(compact(result), result);
  }));
});
