/** Random loops: as a block, as a block after which others follow, and plainly. */
import assert from "node:assert/strict";
import vm from "node:vm";
import fc from "fast-check";
import { BlockRunner } from "../block_runner.ts";

const NAMES = ["a", "b", "c"];
const name = fc.constantFrom(...NAMES);
const value = fc.constantFrom("1", "0.5", "-0", "i", "xs[i % 3]", "`t`", "a", "b", "c / 2", "Math.abs(b)", "xs.length");
const update = fc.constantFrom("=", "+=", "-=", "*=", "??=");
const step = fc.oneof(
  fc.tuple(name, update, value).map(([to, how, what]) => `${to} ${how} ${what}`),
  fc.tuple(name, name).map(([x, y]) => `[${x}, ${y}] = [${y}, ${x}]`),
  name.map((one) => `;(${one})++`),
  fc.tuple(name, update, value).map(([to, how, what]) => `${to} ${how} add(${what}, ${to})`),
  fc.tuple(name, value).map(([to, what]) => `if (${what}) ${to} = add(1, ${what}); else add(2, ${to})`),
  fc.tuple(name, value).map(([to, what]) => `const k = add(i, ${what})\n${to} = k; add(k, ${to})`).map((text) =>
    `{ ${text} }`
  ),
  fc.constantFrom(
    "if (add(i, a) > 3) a = 1",
    "c = add(b++, 1)",
    "for (const x of [add(i, 1)]) b = x",
    "a = add(add(i, b), add(c, 2))",
  ),
  fc.tuple(value, name).map(([what, to]) => `xs[i % 3] = ${what}; ${to} = xs[0]`),
  fc.tuple(name, value).map(([one, what]) => `if (${one} > 2) { const ${one} = ${what}; c = ${one} } else b = i`),
  fc.constantFrom("if (i === 2) break", "if (i > 3) null.x", "switch (i) { case 1: a = 5; break; default: b = `u` }"),
  fc.constantFrom("for (const x of xs) a = x", "for (let j = 0; j < i; j++) { if (j === 1) continue; c = j / 2 }"),
  fc.constantFrom("try { if (i) throw b; a = 1 } catch (b) { c = b }", "{ let q = 0; while (q < 2) q += 1; c = q }"),
);
const body = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => `{\n${steps.join(";\n")}\n}`);
const loop = fc.oneof(
  body.map((text) => `for (let i = 0; i < 5; i++) ${text}`),
  body.map((text) => `for (let i = 0; i < 5; ((i)), i++) if (i !== 1) ${text} else continue`),
  body.map((text) => `for (var i = 0; i < 5; i += 1) ${text}`),
  body.map((text) => `var i = -1; while (++i < 5) ${text}`),
  body.map((text) => `for (const i of [0, 1, 2.5]) ${text}`),
  body.map((text) => `for (let i in { x: 1, y: 2 }) ${text}`),
  body.map((text) => `outer: for (let i = 0; ; i++) { if (i > 4) break outer; ${text} }`),
);

/** `a` is undefined when the second loop throws. */
const UNDEFINED_AT_ERROR = [
  "for (const i of [0, 1, 2.5]) {\na = xs[i % 3];\n{ const k = add(i, 1)\nb = k; add(k, b) }\n}",
  "for (let i = 0; i < 5; i++) if (i !== 1) {\nif (b) c = add(1, b); else add(2, c);\nb = i\n} else continue",
];

Deno.test("loopEdits() random loops leave what they leave plainly, errors too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(loop, { minLength: 1, maxLength: 3 }), fc.boolean(), async (loops, seen) => {
      const source =
        `let a = 1, b = 0.5, c = 0\nconst seen = [], add = (x, y) => { seen.push(x, y); return seen.length > 9 && y === 2 ? null.y : x + y }\nconst xs = [3, 1.5, 2]\n${
          loops.join("\n")
        }`;
      const plain: unknown = new vm.Script(
        `(() => { "use strict";\nlet error = "";\n${
          source.replace("const xs = [3, 1.5, 2]", "const xs = [3, 1.5, 2];try {")
        }\n` +
          `} catch (e) { error = String(e) }\nreturn [a, b, c, xs, seen, error] })()`,
      ).runInThisContext();
      using runner = new BlockRunner();
      if (seen) await runner.run("const look = () => [a, b, c]");
      const { error } = await runner.run(source);
      // A name that a failed block left undefined is as one that it never reached: it is not declared.
      const found = await runner.value(
        `[${NAMES.map((one) => `typeof ${one} === "undefined" ? undefined : ${one}`)}, xs, seen]`,
      );
      assert.deepEqual([...(found as unknown[]), error === null ? "" : String(error)], plain, source);
      assert.equal(runner.numbers.names, "");
    }),
    { numRuns: 400, examples: [[UNDEFINED_AT_ERROR, false]] },
  );
});
