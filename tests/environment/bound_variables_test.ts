import assert from "node:assert/strict";
import { type EnvironmentView, type Extension, fn, z } from "../../src/extension/mod.ts";
import { sample } from "../extension/_sample.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { withDatabase } from "../helpers/with_database.ts";
import { shown } from "./_shown.ts";

const END = replyJson([], { final: "That is all" });
type Work = (env: EnvironmentView, ...args: unknown[]) => unknown;

function extension(functions: Readonly<Record<string, Work>>, fields: Partial<Extension> = {}): Extension {
  const symbols = Object.entries(functions).map(([name, run]) =>
    fn(name, run, { doc: "Does.", args: z.tuple([]).rest(z.unknown()), returns: "unknown" })
  );
  return sample({ namespace: "test.ext", symbols, ...fields });
}

const BIND: Work = (env, name, value) => env.bindVar?.(name as string, value);
const READ: Work = (env, name, options) => env.readVar?.(name as string, options as object);

Deno.test("bindVar() in a call: seen at once, by the next block, in the index and in a new process", () =>
  withDatabase(async (path) => {
    const extensions = [extension({ bind: BIND })];
    {
      await using engine = await startEngine([
        replyJson(["await ext.bind('rows', [{a: 1}, {a: 2}]); rows.length", "rows[1].a"]),
        replyJson("rows.push({a: 3}); rows.length"),
        replyJson("await ext.bind('rows', new Map([['k', new Date(0)]])); rows.get('k').getTime()"),
        END,
      ], { path, extensions });
      await engine.ask("x");
      assert.deepEqual(shown(engine), ["2", "2", "3", "0"]);
      assert.match(engine.context(1), /rows.*bound by test\.ext/);
      const versions = await engine.store.variableVersions(engine.branch.branchId, "rows");
      assert.equal(versions.length, 3);
    }
    await using again = await startEngine([replyJson("[typeof rows, rows.size].join()"), END], { path, extensions });
    await again.ask("y");
    assert.deepEqual(shown(again), ['"object,1"']);
  }));

Deno.test("bindVar() is undone with a block that ends the child, and stays if the block fails", async () => {
  await using engine = await startEngine([
    replyJson(["await ext.bind('kept', 1); throw new Error('after')"]),
    replyJson(["await ext.bind('gone', 1); const all = []; for (;;) all.push(new Array(1e6).fill(1.5))"]),
    replyJson("[typeof kept, typeof gone].join()"),
    END,
  ], { extensions: [extension({ bind: BIND })], limits: { memoryBytes: 96 << 20 } });
  await engine.ask("x");
  assert.equal(shown(engine).at(-1), '"number,undefined"');
});

Deno.test("bindVar() before the first iteration is stored with it; the index shows it", () =>
  withDatabase(async (path) => {
    const prompt = async ({ bindVar }: EnvironmentView): Promise<string> => {
      await bindVar?.("given", { from: "prompt" });
      return "";
    };
    {
      await using engine = await startEngine([replyJson("given.from"), END], {
        path,
        extensions: [extension({}, { prompt })],
      });
      await engine.ask("x");
      assert.deepEqual(shown(engine), ['"prompt"']);
      assert.match(engine.context(0), /given/);
    }
    await using again = await startEngine([replyJson("given.from"), END], { path });
    await again.ask("y");
    assert.deepEqual(shown(again), ['"prompt"']);
  }));

Deno.test("customBindings has live ones with their owner, newest first, in a new process too", () =>
  withDatabase(async (path) => {
    const list: Work = (env) => env.customBindings?.map(({ name, by, preview }) => `${name} ${by} ${preview}`);
    const other = sample({ namespace: "test.other", symbols: extension({ bind: BIND }).symbols ?? [] });
    const extensions = [extension({ bind: BIND, list }), other];
    {
      await using engine = await startEngine([
        replyJson([
          "await ext.bind('one', 'x')",
          "await other.bind('two', 2); const own = 1",
          "await ext.bind('gone', 3)",
        ]),
        replyJson(["await forget('gone')", "(await ext.list()).length", "(await ext.list()).join(';')"]),
        END,
      ], { path, extensions });
      await engine.ask("x");
      assert.deepEqual(shown(engine).slice(-2), ["2", '"two test.other 2;one test.ext \\"x\\""']);
    }
    await using again = await startEngine([replyJson("(await ext.list()).length"), END], { path, extensions });
    await again.ask("y");
    assert.deepEqual(shown(again), ["2"]);
  }));

const REFUSED_NAMES: readonly (readonly [unknown, RegExp])[] = [
  ["a-b", /Cannot bind "a-b": it is not the name of a variable/],
  ["", /is not the name of a variable/],
  [7, /Cannot bind 7: it is not the name/],
  ["x".repeat(300), /is not the name of a variable/],
  ["__proto__\u0000", /is not the name/],
  ["$query", /Cannot bind \$query: the language or the sandbox uses this name/],
  ["results", /the language or the sandbox uses this name/],
  ["ext", /the language or the sandbox uses this name/],
  ["Map", /the language or the sandbox uses this name/],
  ["await", /the language or the sandbox uses this name/],
];

Deno.test("bindVar() refuses names and values that cannot be variables, and nothing changes", async () => {
  const faults: string[] = [];
  const refuse: Work = async ({ bindVar }) => {
    const message = async (name: unknown, value: unknown): Promise<string> =>
      await bindVar?.(name as string, value).then(() => "taken", (error: Error) => error.message) ?? "absent";
    for (const [name, expected] of REFUSED_NAMES) {
      const found = await message(name, 1);
      if (!expected.test(found)) faults.push(`${String(name)}: ${found}`);
    }
    const values: readonly (readonly [unknown, RegExp])[] = [
      [undefined, /Cannot bind v: its value is undefined/],
      [() => 1, /Cannot bind v: .*function/],
      [{ deep: [Symbol("s")] }, /Cannot bind v: .*deep/],
      [new WeakMap(), /Cannot bind v: /],
      [Promise.resolve(1), /Cannot bind v: /],
      [new Proxy({}, {}), /Cannot bind v: /],
      ["x".repeat(33 << 20), /Cannot bind v: its value is larger than 33554432 bytes/],
    ];
    for (const [value, expected] of values) {
      const found = await message("v", value);
      if (!expected.test(found)) faults.push(`${typeof value}: ${found}`);
    }
  };
  await using engine = await startEngine([replyJson(["await ext.refuse()", "typeof v"]), END], {
    extensions: [extension({ refuse })],
  });
  await engine.ask("x");
  assert.deepEqual(faults, []);
  assert.equal(shown(engine).at(-1), '"undefined"');
});

Deno.test("readVar() returns the value that the running block has just made, as a copy", async () => {
  const change: Work = async ({ readVar }) => {
    const value = await readVar?.("rows") as { a: number }[];
    value.push({ a: 9 });
    return value.length;
  };
  await using engine = await startEngine([
    replyJson(["const rows = [{a: 1}]; await ext.change()", "rows.length", "await ext.read('$query')"]),
    END,
  ], { extensions: [extension({ change, read: READ })] });
  await engine.ask("the question");
  assert.deepEqual(shown(engine), ["2", "1", '"the question"']);
});

Deno.test("readVar() refuses a missing variable, a value that is not data, and a large one, in words", async () => {
  const read: Work = async (env, name, options) =>
    await Promise.resolve(READ(env, name, options)).catch((error: Error) => `${error.name}: ${error.message}`);
  const blocks = [
    "function twice(n) { return n * 2 }\nconst long = 'x'.repeat(2 << 20)\nconst later = new Promise(() => {})",
    "await ext.read('none')",
    "await ext.read('twice')",
    "await ext.read('long')",
    "(await ext.read('long', {maxBytes: 4 << 20})).length",
    "await ext.read('long', {maxBytes: 10})",
    "await ext.read('ext')",
    "await ext.read('globalThis')",
    "await ext.read('Math')",
    "await ext.read('a b')",
    "await ext.read('long', {maxBytes: -1})",
  ];
  await using engine = await startEngine([replyJson(blocks), END], { extensions: [extension({ read })] });
  await engine.ask("x");
  const found = shown(engine).slice(1);
  const expected = [
    /ReferenceError: Cannot read none: no variable in scope has this name|Cannot read none/,
    /Cannot read twice: its value is a function/,
    /"RangeError: Cannot read long: it is larger than 1048576 bytes, the limit; raise maxBytes"/,
    /^2097152$/,
    /"RangeError: Cannot read long: it is larger than 10 bytes, the limit; raise maxBytes"/,
    /Cannot read ext: no variable in scope has this name/,
    /Cannot read globalThis: no variable in scope has this name/,
    /Cannot read Math: no variable in scope has this name/,
    /Cannot read "a b": it is not the name of a variable|Cannot read .*a b/,
    /maxBytes is -1/,
  ];
  for (const [at, one] of expected.entries()) assert.match(found[at] ?? "", one);
});

Deno.test("readVar() without a child reads the stored value and starts none", () =>
  withDatabase(async (path) => {
    {
      await using engine = await startEngine([
        replyJson(["const rows = [1, 2]", "function twice(n) { return n * 2 }", "const big = 'x'.repeat(5000)"]),
        END,
      ], { path });
      await engine.ask("x");
    }
    let opened = 0;
    const found: unknown[] = [];
    const activate = async ({ readVar }: EnvironmentView): Promise<boolean> => {
      if (found.length > 0) return true;
      for (const [name, options] of [["rows"], ["twice"], ["none"], ["big", { maxBytes: 100 }]] as const) {
        found.push(await readVar?.(name, options).catch((error: Error) => `${error.name}: ${error.message}`));
      }
      found.push(opened);
      return true;
    };
    const { openSandbox } = await import("../../src/sandbox/host/open_sandbox.ts");
    await using again = await startEngine([END], {
      path,
      extensions: [extension({}, { activate })],
      openSandbox: (options) => {
        opened++;
        return openSandbox(options);
      },
    });
    await again.ask("y");
    assert.deepEqual(found, [
      [1, 2],
      "TypeError: Cannot read twice: it is a function, not data",
      "ReferenceError: Cannot read none: no variable in scope has this name",
      "RangeError: Cannot read big: it is larger than 100 bytes, the limit; raise maxBytes",
      0,
    ]);
  }));
