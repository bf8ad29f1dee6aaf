import assert from "node:assert/strict";
import { HostCallError } from "../../src/domain/errors.ts";
import { BUILTIN_NAMES, type BuiltinSource, callBuiltin } from "../../src/environment/answer_host_call.ts";
import type { QueryScope } from "../../src/environment/environment_parts.ts";

interface Told {
  readonly asked: [string, ...unknown[]][];
  readonly source: BuiltinSource;
  readonly scope: QueryScope;
}

function told(): Told {
  const asked: [string, ...unknown[]][] = [];
  const note = (name: string) => (...args: unknown[]): Promise<unknown> => {
    asked.push([name, ...args]);
    return Promise.resolve(name);
  };
  const source: BuiltinSource = {
    vars: note("vars"),
    varHistory: note("varHistory"),
    varDiff: note("varDiff"),
    restoreVar: note("restoreVar"),
    forget: note("forget"),
    conversationHistory: note("conversationHistory"),
    conversationCode: note("conversationCode"),
    topics: () => Promise.resolve([]),
    doc: (name) => name === "fs.stat" ? "stat(path)" : null,
    extensions: () => ({ functions: ["fs.stat"], off: [] }),
  };
  const scope: QueryScope = {
    queryId: "q",
    signal: new AbortController().signal,
    budget: () => 4,
    requestMore: (n) => ({ granted: n, budget: 4 + n }),
    answer: (text, facts) => void asked.push(["answer", text, facts]),
    onCall: () => {},
  };
  return { asked, source, scope };
}

async function call(to: Told, name: string, ...args: unknown[]): Promise<unknown> {
  const { source, scope } = to;
  return await callBuiltin({ name, args, block: 2, iteration: 1, isLate: () => false, signal: scope.signal }, {
    source,
    scope,
  });
}

Deno.test("callBuiltin() passes arguments on, with defaults", async () => {
  const to = told();
  await call(to, "vars");
  await call(to, "varHistory", "a");
  await call(to, "varDiff", "a", 1, 2);
  await call(to, "restoreVar", "a");
  await call(to, "restoreVar", "a", 3);
  await call(to, "forget", "a", "b");
  await call(to, "forget", ["a", "b"]);
  await call(to, "conversationHistory");
  await call(to, "conversationHistory", 2);
  await call(to, "conversationCode");
  await call(to, "conversationCode", "q1");
  assert.deepEqual(to.asked, [
    ["vars"],
    ["varHistory", "a"],
    ["varDiff", "a", { from: 1, to: 2 }],
    ["restoreVar", "a", null],
    ["restoreVar", "a", 3],
    ["forget", ["a", "b"]],
    ["forget", ["a", "b"]],
    ["conversationHistory", Infinity],
    ["conversationHistory", 2],
    ["conversationCode", null],
    ["conversationCode", "q1"],
  ]);
  assert.deepEqual(await call(to, "requestMoreIterations", 3), { granted: 3, budget: 7 });
});

Deno.test("callBuiltin() refuses unsuitable arguments and explains its usage", async () => {
  const cases: [string, unknown[], RegExp][] = [
    [
      "requestMoreIterations",
      [],
      /argument 1 is .*, and must be a whole number; usage: requestMoreIterations\(n: number\): Promise<\{granted: number, budget: number\}>/,
    ],
    ["requestMoreIterations", [0], /Cannot request 0 steps/],
    ["requestMoreIterations", [-3], /Cannot request -3 steps/],
    ["requestMoreIterations", [1.5], /whole number/],
    ["requestMoreIterations", ["5"], /whole number/],
    ["requestMoreIterations", [NaN], /whole number/],
    ["requestMoreIterations", [Infinity], /whole number/],
    ["answer", [], /Cannot answer: the value is undefined; pass a value: answer\(value\)/],
    ["answer", [undefined], /Cannot answer: the value is undefined; pass a value: answer\(value\)/],
    [
      "varHistory",
      [],
      /argument 1 is undefined, and must be text that is not empty; usage: varHistory\(name: string\)/,
    ],
    ["varHistory", [{}], /and must be text that is not empty/],
    ["varHistory", [""], /and must be text that is not empty/],
    ["varDiff", ["a", "1", 2], /argument 2 is "1", and must be a whole number/],
    ["varDiff", ["a", 1], /argument 3 is undefined, and must be a whole number/],
    ["restoreVar", ["a", "1"], /argument 2 is "1", and must be a whole number/],
    ["restoreVar", [null], /and must be text that is not empty/],
    ["forget", [1], /the name 1 is not text; usage: forget\("rows", "tmp"\)/],
    ["forget", ["a", null], /the name null is not text/],
    ["conversationHistory", ["all"], /whole number/],
    ["conversationCode", [5], /and must be text that is not empty/],
    ["doc", [], /and must be text that is not empty/],
    ["doc", ["fs.nothing"], /Cannot describe fs\.nothing: the sandbox has no such function; /],
    ["nothing", [], /Cannot call nothing: no function has this name/],
    ["toString", [], /Cannot call toString/],
    ["__proto__", [], /Cannot call __proto__/],
  ];
  for (const [name, args, message] of cases) {
    const to = told();
    await assert.rejects(call(to, name, ...args), (error) => {
      assert.ok(error instanceof HostCallError, `${name}(${JSON.stringify(args)})`);
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(to.asked, []);
  }
});

Deno.test("answer() accepts any value, and options only from its own data", async () => {
  const cases: [unknown[], string, string, string | null][] = [
    [["text"], "text", "markdown", null],
    [[{ a: 1 }], '{\n  "a": 1\n}', "text", null],
    [[{ a: 1 }, { type: "markdown" }], '{\n  "a": 1\n}', "markdown", null],
    [[0], "0", "markdown", null],
    [[false], "false", "markdown", null],
    [[12n], "12", "markdown", null],
    [["x", { type: "text", confidence: "low" }], "x", "text", "low"],
    [["x", { type: "html", confidence: "sure" }], "x", "markdown", null],
    [["x", null], "x", "markdown", null],
    [["x", "low"], "x", "markdown", null],
    [["x", Object.create({ confidence: "low" })], "x", "markdown", null],
    [
      ["x", {
        get confidence(): string {
          return assert.fail("a getter ran");
        },
      }],
      "x",
      "markdown",
      null,
    ],
  ];
  for (const [args, text, type, confidence] of cases) {
    const to = told();
    await call(to, "answer", ...args);
    assert.deepEqual(to.asked, [["answer", text, { type, confidence, block: 2, value: args[0] }]]);
  }
});

Deno.test("doc() knows the builtins and asks the extensions for the rest", async () => {
  for (const name of BUILTIN_NAMES) assert.match(String(await call(told(), "doc", name)), new RegExp(`^${name}\\(`));
  assert.equal(await call(told(), "doc", "fs.stat"), "stat(path)");
  assert.match(String(await call(told(), "doc", "fs.stat", "vars")), /^stat\(path\)\n\nvars\(/);
  const nine = Array.from({ length: 9 }, () => "vars");
  await assert.rejects(call(told(), "doc", ...nine), /Cannot describe 9 functions in one call: the limit is 8/);
  await assert.rejects(call(told(), "doc", "vars", 5), /argument 2 is 5/);
});
