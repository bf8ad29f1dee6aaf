import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { sourcesOf } from "./import_graph.ts";
import plugin from "./lint_plugin.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

function lint(source: string, path = "src/query/x.ts"): string[] {
  return Deno.lint.runPlugin(plugin, `/checkout/${path}`, source).map(({ id, message }) => `${id}: ${message}`);
}

function assertSeen(rule: string, cases: readonly string[], path?: string): void {
  for (const source of cases) {
    const found = lint(source, path).map((one) => one.split(": ")[0]);
    assert.ok(found.includes(`vis/${rule}`), `${rule} misses ${source}, saw ${found.join() || "nothing"}`);
  }
}

function assertClean(rule: string, cases: readonly string[], path?: string): void {
  for (const source of cases) {
    assert.deepEqual(lint(source, path).filter((one) => one.startsWith(`vis/${rule}:`)), [], source);
  }
}

Deno.test("sql-only-in-persistence sees statements, not prose", () => {
  const sql = [
    'const a = "select id from turn where id = ?";',
    "const a = `\n  INSERT INTO turn VALUES (1)`;",
    "const a = `update turn set x = ${1}`;",
    'const a = "pragma user_version";',
  ];
  assertSeen("sql-only-in-persistence", sql);
  assertClean("sql-only-in-persistence", sql, "src/persistence/x.ts");
  assertClean("sql-only-in-persistence", sql, "tests/query/x_test.ts");
  assertClean("sql-only-in-persistence", [
    'const a = "Choose one from the list";',
    'const a = "selected from";',
    'const a = "deleted";',
    'const a = "update";',
  ]);
});

Deno.test("env-only-in-app sees both ways to the environment", () => {
  const reads = ['Deno.env.get("A");', 'process.env["A"];', "const { A } = process.env;", 'Deno["env"].toObject();'];
  assertSeen("env-only-in-app", reads);
  assertSeen("env-only-in-app", reads, "src/app/settings/settings.ts");
  assertSeen("env-only-in-app", reads, "main.ts");
  assertClean("env-only-in-app", reads, "src/app.ts");
  assertClean("env-only-in-app", reads, "scripts/compile.ts");
  assertClean("env-only-in-app", ["options.env.A;", "const env = { a: 1 };"]);
});

Deno.test("error-message requires a capital, no full stop and no contraction, wherever the error is created", () => {
  assertSeen("error-message", [
    'throw new Error("cannot open");',
    'throw new TypeError("Cannot open.");',
    'throw new StoreError("Cannot open. Sorry", "busy");',
    'const e = new RangeError("Can\'t open");',
    'Promise.reject(new Error("It\'s gone"));',
    "throw new Error(`cannot open ${path}`);",
    "throw new Error(`Cannot open ${path}.`);",
  ]);
  assertClean("error-message", [
    'throw new Error("Cannot open: a.db");',
    "throw new Error(`${name} has no such thing`);",
    'throw new Error("Cannot read the model\'s reply");',
    "throw new Error(message);",
    'throw new SandboxEnded("memory");',
    'new Error("probe").stack;',
    'throw new Error("Cannot read config.json: empty");',
  ]);
  assertClean("error-message", ['throw new Error("x");'], "tests/a_test.ts");
});

Deno.test("no-private-keyword requires #names", () => {
  assertSeen("no-private-keyword", [
    "class A { private x = 1; }",
    "class A { private f() {} }",
    "class A { constructor(private readonly x: number) {} }",
  ]);
  assertClean("no-private-keyword", ["class A { #x = 1; constructor(readonly y: number) {} }"]);
});

Deno.test("no-module-let sees state of a module, not of a function", () => {
  assertSeen("no-module-let", ["let a = 1;", "export let a = 1;", "var a = 1;"]);
  assertClean("no-module-let", [
    "const a = 1;",
    "function f() { let a = 1; return a; }",
    "for (let i = 0; i < 1; i++);",
  ]);
  assertClean("no-module-let", ["let a = 1;"], "bench/run.ts");
});

Deno.test("no-console leaves output to the channels", () => {
  assertSeen("no-console", ['console.log("x");', "const { log } = { log: console.error };"]);
  assertSeen("no-console", ['console.log("x");'], "extensions/fs/mod.ts");
  for (const path of ["src/channels/cli/cli.ts", "scripts/test.ts", "bench/run.ts", "tests/a_test.ts"]) {
    assertClean("no-console", ['console.log("x");'], path);
  }
  assertClean("no-console", ["const own = { console: make() };", "scope.console.log(1);"]);
});

Deno.test("camel-case checks names of this code, not keys of wire formats", () => {
  assertSeen("camel-case", [
    "const max_items = 1;",
    "function do_it() {}",
    "function f(a_b: A) {}",
    "const { a_b } = c;",
    "const { a: b_c } = d;",
    "const [a_b = 1] = c;",
    "class My_Class {}",
    "class A { f_g() {} }",
    "class A { a_b = 1; }",
    "class A { constructor(readonly a_b: B) {} }",
  ]);
  assertClean("camel-case", [
    "const MAX_ITEMS = 1;",
    "const body = { max_tokens: 1 };",
    "const { max_tokens: maxTokens } = body;",
    "row.created_at;",
    "const [_, __unused, $query, V8] = a;",
    "class A { #b = 1; get c2() { return 1; } }",
  ]);
});

Deno.test("no-message-parsing sees code that reads the words of an error, and each exception has its reason", async () => {
  const parsing = [
    'error.message.includes("x");',
    'one.reason.startsWith("It is off");',
    "/x/.test(error.message);",
    "const at = /(\\d+)/.exec(messageOf(error));",
    "const { message } = error; message.match(/x/);",
    'error?.message.replace("a", "b");',
    "/x/.test(stderr);",
  ];
  assertSeen("no-message-parsing", parsing);
  assertSeen("no-message-parsing", parsing, "extensions/fs/x.ts");
  assertClean("no-message-parsing", parsing, "tests/query/x_test.ts");
  assertClean("no-message-parsing", [
    'error.code === "busy";',
    "error.message.slice(0, 100);",
    'reason.replaceAll("_", " ");',
    'text.includes("x");',
  ]);
  for (const path of [...await sourcesOf(ROOT, "src/"), ...await sourcesOf(ROOT, "extensions/")]) {
    const text = await Deno.readTextFile(`${ROOT}${path}`);
    for (const [line] of text.matchAll(/.*deno-lint-ignore vis\/no-message-parsing.*/g)) {
      assert.match(line, / -- \w.{10,}/, `${path} gives a reason`);
    }
  }
});
