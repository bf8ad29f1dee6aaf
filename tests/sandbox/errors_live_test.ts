import assert from "node:assert/strict";
import { testSandbox } from "../helpers/sandbox.ts";

interface Thrown {
  readonly blocks: readonly string[];
  readonly name: string;
  readonly message: RegExp;
  readonly at: readonly [number | null, number | null];
  readonly excerpt: string;
  readonly stack: string;
}

const THROWN: readonly Thrown[] = [
  {
    blocks: ["const a = 1\nconst b = null.x"],
    name: "TypeError",
    message: /reading 'x'/,
    at: [2, 16],
    excerpt: "const b = null.x\n               ^",
    stack: "at (2:16)",
  },
  {
    blocks: ["function boom(x) {\n  const y = x\n  return y.z.q\n}", "1;\n  boom({})"],
    name: "TypeError",
    message: /reading 'q'/,
    at: [2, 3],
    excerpt: "  boom({})\n  ^\nthrown in boom, block 1 of iteration 1, line 3:\n  return y.z.q\n             ^",
    stack: "at boom (block 1 of iteration 1, 3:14)\nat (2:3)",
  },
  {
    blocks: ["type A = { a: number }\nfunction typed<T>(x: T): T {\n  return (x as any).a.b\n}", "\ntyped<number>(1)"],
    name: "TypeError",
    message: /reading 'b'/,
    at: [2, 1],
    excerpt:
      "typed<number>(1)\n^\nthrown in typed, block 1 of iteration 1, line 3:\n  return (x as any).a.b\n                      ^",
    stack: "at typed (block 1 of iteration 1, 3:23)\nat (2:1)",
  },
  {
    blocks: [
      "async function inner() { await 0; throw new RangeError('late') }\nasync function outer() {\n  await inner()\n}",
      "await outer()",
    ],
    name: "RangeError",
    message: /^late$/,
    at: [1, 1],
    excerpt:
      "await outer()\n^\nthrown in inner, block 1 of iteration 1, line 1:\nasync function inner() { await 0; throw new RangeError('late') }\n                                        ^",
    stack: "at inner (block 1 of iteration 1, 1:41)\nat outer (block 1 of iteration 1, 3:3)\nat (1:1)",
  },
  {
    blocks: ["const t = `\n a\n ${null.x}\n`"],
    name: "TypeError",
    message: /reading 'x'/,
    at: [3, 9],
    excerpt: " ${null.x}\n        ^",
    stack: "at (3:9)",
  },
  {
    blocks: ["```ts\nlet a: number = 1\n  a.b.c\n```"],
    name: "TypeError",
    message: /reading 'c'/,
    at: [3, 7],
    excerpt: "  a.b.c\n      ^",
    stack: "at (3:7)",
  },
  {
    blocks: ["class A {\n  constructor() { this.x.y }\n}\nnew A()"],
    name: "TypeError",
    message: /reading 'y'/,
    at: [2, 26],
    excerpt: "  constructor() { this.x.y }\n                         ^",
    stack: "at new A (2:26)\nat (4:1)",
  },
  {
    blocks: [
      "class HttpError extends Error { status = 404 }",
      "throw new HttpError('gone', { cause: new TypeError('inner') })",
    ],
    name: "HttpError",
    message: /^gone \{ status: 404 \} \[cause: TypeError: inner\]$/,
    at: [1, 7],
    excerpt: "throw new HttpError('gone', { cause: new TypeError('inner') })\n      ^",
    stack: "at (1:7)",
  },
  {
    blocks: ["await Promise.any([Promise.reject(new Error('a')), Promise.reject(1)])"],
    name: "AggregateError",
    message: /^All promises were rejected \[errors: \[ \[Error: a\], 1 \]\]$/,
    at: [null, null],
    excerpt: "",
    stack: "",
  },
  {
    blocks: ["structuredClone(() => 1)"],
    name: "DataCloneError",
    message: /could not be cloned/,
    at: [1, 1],
    excerpt: "structuredClone(() => 1)\n^",
    stack: "at (1:1)",
  },
  {
    blocks: ["throw { code: 1 }"],
    name: "Error",
    message: /^thrown: \{ code: 1 \}$/,
    at: [null, null],
    excerpt: "",
    stack: "",
  },
  {
    blocks: ["await fs.readFile('x')"],
    name: "TypeError",
    message: /no such file/,
    at: [1, 10],
    excerpt: "await fs.readFile('x')\n         ^",
    stack: "at (1:10)",
  },
];

for (const { blocks, name, message, at, excerpt, stack } of THROWN) {
  Deno.test(`run() places an error: ${blocks.at(-1)?.replace(/\s+/g, " ")}`, async () => {
    const readFile = () => {
      throw new TypeError("no such file");
    };
    await using box = await testSandbox({ functions: { "fs.readFile": readFile } });
    for (const block of blocks.slice(0, -1)) assert.equal((await box.run(block)).result.error, null);
    const { result: { error, outcome } } = await box.run(blocks.at(-1) ?? "");
    assert.equal(outcome, "error");
    const { advice: _advice, ...told } = error ?? assert.fail("no error");
    assert.match(told.message, message);
    assert.deepEqual(told, { name, message: told.message, line: at[0], column: at[1], excerpt, stack });
  });
}

Deno.test("run() names the block of another iteration and of an earlier query", async () => {
  await using box = await testSandbox();
  await box.run("1", { iteration: 2 });
  await box.run("const fail = () => {\n  throw new Error('here')\n}", { iteration: 2 });
  const same = await box.run("fail()", { iteration: 3 });
  assert.match(same.result.error?.excerpt ?? "", /\nthrown in fail, block 2 of iteration 2, line 2:\n/);
  await box.sandbox.endQuery();
  await box.run("1", { iteration: 2 });
  await box.run("2", { iteration: 2 });
  const later = await box.run("fail()", { iteration: 3 });
  assert.match(
    later.result.error?.excerpt ?? "",
    /\nthrown in fail, block 2 of iteration 2 of an earlier request, line 2:\n/,
  );
});

Deno.test("run() keeps the texts of blocks within bounds, and goes without the oldest", async () => {
  await using box = await testSandbox();
  await box.run("const fail = () => { throw new Error('here') }");
  for (let i = 0; i < 5; i++) await box.run(`// ${"x".repeat(200_000)}\n1`);
  const { result } = await box.run("fail()");
  assert.deepEqual([result.error?.line, result.error?.excerpt], [1, "fail()\n^"]);
});

Deno.test("run() an error that only looks like one of a block has no place", async () => {
  await using box = await testSandbox();
  const { result } = await box.run(
    "const e = new Error('x'); e.stack = 'Error\\n    at f (block99:1:1)\\n    at g (main:2:2)'; throw e",
  );
  assert.deepEqual([result.error?.line, result.error?.stack], [null, ""]);
});
