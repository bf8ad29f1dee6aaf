import assert from "node:assert/strict";
import { errorForModel } from "../../../../src/domain/query/host_call.ts";
import fc from "fast-check";
import type { StripTypes } from "../../../../src/sandbox/child/compiler/parse.ts";
import { composeMaps, mapOffset, type PositionMap } from "../../../../src/sandbox/child/compiler/positions.ts";
import { prepareBlock } from "../../../../src/sandbox/child/compiler/prepare.ts";
import { BlockRunner, prepare } from "../block_runner.ts";
import { transform } from "sucrase";

function repeated(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join("");
}

function refusal(source: string): string {
  const block = prepare(source);
  assert.ok(!block.ok, source.slice(0, 60));
  return errorForModel(block.error);
}

Deno.test("prepareBlock() refuses a block that is too long, with the reason and a remedy", () => {
  const advice = "split it into several blocks, keep data in a file, or repeat with a loop";
  assert.equal(
    refusal(`const text = "${"x".repeat(256 << 10)}"`),
    `The block is too long: it has 262159 characters, more than the limit of 262144; ${advice}`,
  );
  assert.equal(
    refusal(`let a = 0, b = 1;${repeated(30_000, () => "a=b+1;")}`),
    `The block is too long: it has 180008 names, values and operations, more than the limit of 150000; ${advice}`,
  );
});

Deno.test("prepareBlock() a block below the limits runs, whatever it consists of", async () => {
  using runner = new BlockRunner();
  assert.equal(await runner.value(`let a = 0;${repeated(24_000, () => "a=a+1;")} a`), 24_000);
  assert.equal(
    await runner.value(`function f${repeated(900, (at) => `${at}() { return ${at} } function f`)}() {} f899()`),
    899,
  );
  assert.equal(await runner.value(`${repeated(3_000, (at) => `// line ${at}\n`)}const x: number = 7;\nx`), 7);
  assert.equal(
    (await runner.run(repeated(990, (at) => `// is ${at}\nconst v${at}: number = ${at};\n`))).block.declarations[989]
      ?.doc,
    "is 989",
  );
  assert.equal(await runner.value(`const rows = [${repeated(10_000, (at) => `{a:${at}},`)}]; rows.length`), 10_000);
});

Deno.test("prepareBlock() escapes line feeds in strings, however many there are and however long the block is", async () => {
  using runner = new BlockRunner();
  const broken = repeated(900, (at) => `const s${at} = 'a\nb';\n`);
  assert.equal(await runner.value(`${broken}/*${"x".repeat(64 << 10)}*/ s899`), "a\nb");
  const lines = "const t: string = 'a\r\n\\'b\\\nc', r = /'/, u = `\n'${\"d\ne\"}`; [t, u, r.source]";
  assert.deepEqual(await runner.value(lines), ["a\n'bc", "\n'd\ne", "'"]);
  assert.match(refusal("const a = 'b\nc"), /Unterminated string/);
});

function stepsOf(source: string): number {
  const { indexOf } = Array.prototype, { indexOf: find, lastIndexOf: findLast } = String.prototype;
  let steps = 0;
  Array.prototype.indexOf = function (...given) {
    steps += this.length;
    return indexOf.apply(this, given);
  };
  String.prototype.indexOf = function (text, from = 0) {
    const at = find.call(this, text, from);
    steps += (at < 0 ? this.length : at) - Math.min(from, this.length) + 1;
    return at;
  };
  String.prototype.lastIndexOf = function (this: string, text, from = this.length) {
    const at = findLast.call(this, text, from);
    steps += Math.min(from, this.length) - at + 1;
    return at;
  };
  try {
    prepare(source);
    return steps;
  } finally {
    Object.assign(Array.prototype, { indexOf });
    Object.assign(String.prototype, { indexOf: find, lastIndexOf: findLast });
    for (const name of ["indexOf", "lastIndexOf"]) Object.defineProperty(String.prototype, name, { enumerable: false });
    Object.defineProperty(Array.prototype, "indexOf", { enumerable: false });
  }
}

const GROWING: Readonly<Record<string, (count: number) => string>> = {
  "constants of a function": (count) => `function f() { ${repeated(count, (at) => `const a${at} = 1;`)} }`,
  "variables of a function": (count) => `function f() { ${repeated(count, (at) => `var a${at};`)} }`,
  parameters: (count) => `function f(${repeated(count, (at) => `a${at},`)}) {}`,
  "functions of a function": (count) => `function f() { ${repeated(count, (at) => `function a${at}() {} `)} }`,
  "members of an enum": (count) => `enum E { ${repeated(count, (at) => `A${at},`)} }`,
  "types on one line": (count) => `let a: number = 1; ${repeated(count, () => `a = <any>a as number; `)}`,
  "comments on one line": (count) => `let a; ${repeated(count, () => `/* b */ a = 1; `)}`,
  "comments above": (count) => `${repeated(count, () => "// b\n")}let a = 1, b, c, d, e, f, g, h, i, j`,
  statements: (count) => `let a; ${repeated(count, () => "a = f(a, 'b');\n")}`,
  "broken strings": (count) => repeated(count, () => "f('a\nb');\n"),
};

Deno.test("prepareBlock() looks through no more than grows with the block", () => {
  for (const [name, form] of Object.entries(GROWING)) {
    const some = stepsOf(form(500)), more = stepsOf(form(2_000));
    assert.ok(more < 6 * some + 50_000, `${name}: ${some} steps, then ${more}`);
  }
});

Deno.test("prepareBlock() strips types of a broken block a few times, however much is broken", () => {
  for (const line of ["f('a\nb');\n", "if (a &lt; b) f();\n", "f(() => {\n"]) {
    let calls = 0;
    const loadSucrase = (): StripTypes => (code, options) => {
      calls++;
      return transform(code, options);
    };
    prepareBlock(`const t: string = '';\n${line.repeat(400)}`, { loadSucrase });
    assert.ok(calls <= 10, `${calls}: ${line}`);
  }
});

Deno.test("prepareBlock() refuses a name of more than 1000 characters, wherever it is", () => {
  const long = "n".repeat(1001), fits = "n".repeat(1000);
  for (
    const code of [
      "const NAME = 1",
      "function NAME() {}",
      "class NAME {}",
      "const k = class NAME {}",
      "enum NAME { A }",
      "enum E { NAME }",
      "const { NAME } = {}",
      "const p = (NAME: number) => 1",
      "NAME",
      "globalThis.NAME = 1",
    ]
  ) {
    assert.equal(
      refusal(code.replace("NAME", long)),
      "Cannot use a name of 1001 characters: the limit is 1000 characters; choose a shorter name",
      code,
    );
    assert.ok(prepare(code.replace("NAME", fits)).ok, code);
  }
  assert.ok(prepare(`const o = { "${long}": 1 }; enum E { A }`).ok, "a text is not a name");
});

Deno.test("composeMaps() leads each position where both maps lead it, one after the other", () => {
  const map = fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.nat(5)), { minLength: 1, maxLength: 12 }).map((parts) => {
    const made: number[] = [];
    let from = 0, to = 0;
    for (const [gap, skipped, length] of parts) {
      made.push(from, to + skipped, length);
      from += length + gap;
      to += skipped + length;
    }
    return made as PositionMap;
  });
  fc.assert(fc.property(map, map, (first, second) => {
    const composed = composeMaps(first, second);
    for (let part = 0; part + 2 < first.length; part += 3) {
      for (let at = 0; at < first[part + 2]!; at++) {
        const offset = first[part]! + at, middle = first[part + 1]! + at;
        const inPart = second.findLastIndex((from, i) => i % 3 === 0 && from <= middle);
        // The part has no place for a mapping.
        if (inPart < 0 || middle >= second[inPart]! + second[inPart + 2]!) continue;
        assert.equal(mapOffset(composed, offset), mapOffset(second, middle));
      }
    }
  }));
});

const NESTED: Readonly<Record<string, (depth: number) => string>> = {
  members: (depth) => `a${".b".repeat(depth)}`,
  "optional members": (depth) => `a${"?.b".repeat(depth)}`,
  calls: (depth) => `f${"()".repeat(depth)}`,
  operators: (depth) => `1${"+1".repeat(depth)}`,
  powers: (depth) => `1${"**1".repeat(depth)}`,
  "unary operators": (depth) => `${"!".repeat(depth)}1`,
  lists: (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`,
  objects: (depth) => `(${"{a:".repeat(depth)}1${"}".repeat(depth)})`,
  parentheses: (depth) => `${"(".repeat(depth)}1${")".repeat(depth)}`,
  templates: (depth) => `${"`${".repeat(depth)}1${"}`".repeat(depth)}`,
  tags: (depth) => `a${"`x`".repeat(depth)}`,
  conditions: (depth) => `${"a?b:".repeat(depth)}c`,
  assignments: (depth) => `let a;${"a=".repeat(depth)}1`,
  arrows: (depth) => `${"x=>".repeat(depth)}1`,
  blocks: (depth) => `if(1)${"{".repeat(depth)}${"}".repeat(depth)}`,
  "else if": (depth) => `${"if(a){}else ".repeat(depth)}{}`,
  functions: (depth) => `${"function f(){".repeat(depth)}${"}".repeat(depth)}`,
  patterns: (depth) => `const ${"[".repeat(depth)}a${"]".repeat(depth)} = []`,
  types: (depth) => `const x: number = 1; x${".b".repeat(depth)}`,
};

Deno.test("prepareBlock() prepares code of any depth or refuses it, and never throws", () => {
  for (const [name, form] of Object.entries(NESTED)) {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 18_000 }), (depth) => {
        const block = prepare(form(depth));
        if (depth <= 300 && name !== "patterns") assert.ok(block.ok, `${name} ${depth}`);
        if (depth > 1_000 && name !== "parentheses") {
          assert.ok(!block.ok && /too deeply to be read|too long/.test(block.error.message));
        }
      }),
      { numRuns: 8, examples: [[300], [900], [1_000], [1_500], [15_000]] },
    );
  }
});
