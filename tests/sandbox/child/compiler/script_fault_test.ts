/** The engine gets one function for any text of a block: for hand-made attacks and for random blocks. */
import assert from "node:assert/strict";
import vm from "node:vm";
import fc from "fast-check";
import type { Declaration } from "../../../../src/sandbox/child/compiler/declarations.ts";
import { restoredFault, scriptFault } from "../../../../src/sandbox/child/compiler/refusals.ts";
import { BlockRunner, prepare } from "../block_runner.ts";
import { escapes } from "../escapes.ts";
import { runs } from "../../../helpers/long_part.ts";

const ESCAPED = "globalThis.escaped = true";
/** The text leaves the block's function, if the rewriter lets it. */
const OUT = `}); ${ESCAPED}; (function(){`;

/** Compiles the code of a block and asks the engine, which has its own parser. The script must make one function, whose
 * text is the whole script. */
function assertOneFunction(code: string, source: string): void {
  Reflect.deleteProperty(globalThis, "escaped");
  const made: unknown = new vm.Script(code).runInThisContext();
  assert.equal(Reflect.get(globalThis, "escaped"), undefined, `${source}\n${code}`);
  assert.equal(typeof made, "function", source);
  assert.equal(Function.prototype.toString.call(made), code.slice('"use strict";('.length, -1), source);
}

Deno.test("prepareBlock() no text leads out of the block's function", () => {
  for (const source of escapes(ESCAPED)) {
    const block = prepare(source);
    if (block.ok) assertOneFunction(block.code, source);
    else assert.doesNotMatch(block.error.message, /rewrite it safely/, source);
  }
});

Deno.test("scriptFault() refuses anything but one function that uses permitted names", () => {
  const wrap = (body: string): string => `"use strict";(function(){${body}\n})`;
  const right = [
    "",
    "return(1)",
    "return 1 // end",
    "function f() { return arguments }",
    "x.import(1)",
    "let out = '});'",
  ];
  for (const body of right) assert.equal(scriptFault(wrap(body)), null, body);
  const wrong = [OUT, "}); (function(){", "}, function(){", "})(), (function(){", "}) // ", "`", "/*", "-->*/"];
  for (const body of wrong) assert.match(scriptFault(wrap(body))?.message ?? "", /rewrite it safely/, body);
  for (
    const code of ["", "1", '"use strict";', "(function(){})", '"use strict";(() => 1)', '"use strict";(class {})']
  ) {
    assert.match(scriptFault(code)?.message ?? "", /rewrite it safely/, code);
  }
  assert.match(scriptFault(wrap("import('x')"))?.message ?? "", /import\(\) is not available/);
  assert.match(scriptFault(wrap("return () => arguments"))?.message ?? "", /only inside a function/);
  assert.match(scriptFault(wrap("return \\u0061rguments"))?.message ?? "", /only inside a function/);
  assert.match(scriptFault(wrap(`${"[".repeat(50_000)}${"]".repeat(50_000)}`))?.advice ?? "", /nest it less deeply/);
});

Deno.test("prepareBlock() a name with an escape is never a name of the rewriter", async () => {
  const names = ["made", "f", "g", "E"];
  for (const name of names) {
    for (
      const escape of ["\\u200d", "\\u200D", "\\u{200d}", "\\u{0000200D}", "\u200d", "\\u200d\u200d", "\\u200d\\u200d"]
    ) {
      using runner = new BlockRunner();
      const own = `${name}${escape}`;
      const source =
        `let total = 0.5\nfor (let i = 0; i < 3; i++) total += i / 2\nconst seen = [g(), typeof ${own}]\n` +
        "function g() { return 1 }\nfunction f() { return 2 }\nenum E { A = 3 }\n[...seen, total, f(), E.A]";
      assert.deepEqual(await runner.value(source), [1, "undefined", 2, 2, 3], own);
    }
  }
});

function assertRestorable({ name, declaration, source }: Declaration, block: string): void {
  if (source === "") return;
  const summary = { declaration, type: "", size: null, shape: "", inline: null, doc: "" };
  const faults = (["function", "class"] as const).map((kind) => restoredFault({ name, kind, source, summary }));
  assert.ok(faults.includes(null), `${name}: ${faults}\n${source}\n${block}`);
}

const gap = fc.constantFrom(
  ...["", " ", " ", " ", "\n", "\t", "\r", "\r\n", "\u2028", "\u00a0", "/* x */", "//\n", "/*\n*/", "/**/", "/*/*/"],
  ...[`// ${OUT}\n`, `/* ${OUT} */`, "// `\n", "/* ` */", "// /*\n", "/* // */", "/*`${*/", "\n/*/ */\n", " // }\n"],
);
const name = fc.constantFrom(
  "a",
  "b",
  "f",
  "g",
  "\\u0061",
  "a\u200d",
  "b\\u200d",
  "made\\u200d",
  "$",
  "async",
  "of",
  "get",
);
const text = fc.constantFrom(
  ...[
    "1",
    "'`'",
    '"${"',
    "'*/'",
    '"//"',
    "'/*'",
    `"${OUT}"`,
    "`a`",
    "`${1}`",
    "`${'`'}`",
    "`${`${1}`}`",
    "`\\``",
    "`$`",
  ],
  ...[`\`${OUT}\``, `\`\${"${OUT}"}\``, `\`\${'\`'}\`+1+\`\${'\`'}\``, "/[`]/", "/[/*]/", "/\\//", "/`/", "{}", "[]"],
  ...[
    "{ a: 1 }",
    "{ a }",
    "(1)",
    "a",
    "f()",
    "a--",
    "-->b",
    "b/a/g",
    "() => {}",
    "async () => { }",
    "x => ({ x })",
    "(a = await 1) => a",
    "(a, { b } = {}) => b",
  ],
  ...[
    "function () {}",
    "class {}",
    "a <!--b",
    "await 1",
    "new.target",
    "this",
    "a ? `${b}` : '`'",
    "1;",
    "[a, b] = [1]",
  ],
);
const token = (...list: readonly (string | fc.Arbitrary<string>)[]): fc.Arbitrary<string> =>
  fc.tuple(...list.flatMap((one) => [gap, typeof one === "string" ? fc.constant(one) : one])).map((all) =>
    all.join("")
  );
const body: fc.Arbitrary<string> = fc.oneof(
  text,
  fc.constantFrom("return 1", "/*\n(){}; /*/", "//\n", "{ }", "var a = 1", "arguments", `/* ${OUT} */`),
);
const statement = fc.oneof(
  token("function", " ", name, "(", ")", "{", body, "}"),
  token("async", " function", name, "(", ")", "{", body, "}"),
  token("function", "*", name, "(", name, ")", "{", body, "}"),
  token("class", " ", name, "{", name, "=", text, "}"),
  token(fc.constantFrom("const ", "let ", "var "), name, "=", text),
  token(fc.constantFrom("const ", "let ", "var "), "{", name, "}", "=", text),
  token(fc.constantFrom("const ", "let ", "var "), "[", name, ",", name, "]", "=", text, fc.constantFrom("", ";")),
  token("let ", name, ",", name, "=", text),
  token(
    "for",
    "(",
    "let i",
    "=",
    "0",
    ";",
    "i",
    "<",
    "2",
    ";",
    "i++",
    ")",
    fc.constantFrom("a += i", "{ var b = i }", "f(i)"),
  ),
  token("while", "(", name, ")", name, "=", text),
  token("if", "(", text, ")", "var ", name, "=", text, ";", "else", " ", text),
  token("enum ", name, "{", fc.constantFrom("A", "A = 1", "A = `x`", "A = '`'", 'A = "}"'), "}"),
  token("namespace ", name, "{", "export const x", "=", text, "}"),
  token("{", "a", ":", text, "}", fc.constantFrom("", ";", ";;")),
  token(name, "=", text),
  token(text, fc.constantFrom("", ";")),
  token(text, fc.constantFrom("", ";")),
  token("type ", name, "=", text),
);
const block = fc.array(fc.tuple(statement, fc.constantFrom("\n", ";", " ", "", "\n\n", " //\n")), {
  minLength: 1,
  maxLength: 5,
})
  .map((list) => list.map((one) => one.join("")).join(""));

Deno.test("prepareBlock() random blocks become one function each, and none is refused for the rewriter's sake", () => {
  let ran = 0;
  const blocks = runs(500, 4000);
  fc.assert(
    fc.property(block, (source) => {
      const made = prepare(source);
      if (!made.ok) return assert.doesNotMatch(made.error.message, /rewrite it safely/, source);
      ran++;
      assertOneFunction(made.code, source);
      for (const one of made.declarations) assertRestorable(one, source);
    }),
    { numRuns: blocks, seed: 1 },
  );
  assert.ok(ran > blocks / 20, `${ran} of ${blocks} could be run`);
});
