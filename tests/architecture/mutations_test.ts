/** Breaks each rule once in a small tree with this repository's settings, to test the checks themselves. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importProblems } from "./problems.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

async function makeTree(files: Readonly<Record<string, string>>): Promise<{ root: string } & AsyncDisposable> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-tree-" }));
  const settings = JSON.parse(await Deno.readTextFile(join(ROOT, "deno.json")));
  settings.lint.plugins = [new URL("./lint_plugin.ts", import.meta.url).href];
  for (const [path, text] of Object.entries({ ...files, "deno.json": JSON.stringify(settings) })) {
    await Deno.mkdir(dirname(join(root, path)), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

const CLEAN = {
  "src/domain/a.ts": "export interface A {\n  readonly a: 1;\n}\n",
  "src/query/q.ts": 'import type { A } from "../domain/a.ts";\n\nexport function q(a: A): number {\n  return a.a;\n}\n',
  "src/persistence/store.ts": "export interface Store {\n  readonly a: 1;\n}\n",
  "src/extension/mod.ts": "export const spec = 1;\n",
  "src/channels/cli/cli.ts": "export const cli = 1;\n",
  "extensions/fs/mod.ts": 'import { spec } from "@vis/extension";\n\nexport default { spec };\n',
};

Deno.test("a clean tree has no problem", async () => {
  await using tree = await makeTree(CLEAN);
  assert.deepEqual(await importProblems(tree.root), []);
});

Deno.test("each forbidden import is seen, types, lazy ones and aliases too", async () => {
  const broken = {
    "src/iteration/up.ts": 'import { q } from "../query/q.ts";\nexport const x = q;\n',
    "src/prompt/type.ts": 'import type { q } from "../query/q.ts";\nexport type X = typeof q;\n',
    "src/providers/lazy.ts": 'export const x = (): Promise<unknown> => import("../query/q.ts");\n',
    "src/query/sql.ts": 'import { DatabaseSync } from "node:sqlite";\nexport const x = DatabaseSync;\n',
    "src/channels/http/two.ts": 'import { cli } from "../cli/cli.ts";\nexport const x = cli;\n',
    "src/sandbox/child/main.ts": 'import { A } from "../../domain/a.ts";\nexport type X = A;\n',
    "src/environment/ext.ts": 'import x from "../../extensions/fs/mod.ts";\nexport const y = x;\n',
    "extensions/git/mod.ts": 'import type { Store } from "../../src/persistence/store.ts";\nexport type X = Store;\n',
  };
  await using tree = await makeTree({ ...CLEAN, ...broken });
  const seen = (await importProblems(tree.root)).map((problem) => problem.split(" -> ")[0]);
  assert.deepEqual(seen.sort(), Object.keys(broken).sort());
});

Deno.test("a circle of files is seen, types and lazy imports too", async () => {
  await using tree = await makeTree({
    ...CLEAN,
    "src/query/a.ts": 'import type { B } from "./b.ts";\nexport type A = B;\n',
    "src/query/b.ts": 'export type B = 1;\nexport const load = (): Promise<unknown> => import("./c.ts");\n',
    "src/query/c.ts": 'import { type A } from "./a.ts";\nexport const c: A = 1;\n',
  });
  assert.deepEqual(await importProblems(tree.root), [
    "src/query/a.ts -> src/query/b.ts -> src/query/c.ts -> src/query/a.ts: a circle of files",
  ]);
});

Deno.test("a package with two owners is seen", async () => {
  const use = 'import { newId } from "uuidv7";\nexport const x = newId;\n';
  await using tree = await makeTree({
    ...CLEAN,
    "src/domain/u.ts": use,
    "src/query/u.ts": use,
    "extensions/fs/u.ts": use,
  });
  assert.match((await importProblems(tree.root)).join(), /"uuidv7" has 2 owners: src\/domain, src\/query$/);
});

Deno.test("deno lint with the settings of this repository reports the house rules", async () => {
  await using tree = await makeTree({
    ...CLEAN,
    "src/query/bad.ts": "let counter = 0;\nconst x: any = counter++;\nconsole.log(x);\n",
  });
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["lint", "--json"],
    cwd: tree.root,
    env: { NO_COLOR: "1" },
  }).output();
  const { diagnostics } = JSON.parse(new TextDecoder().decode(stdout)) as {
    diagnostics: { code: string; filename: string }[];
  };
  assert.equal(code, 1);
  assert.deepEqual(diagnostics.map((one) => one.code).sort(), [
    "no-explicit-any",
    "vis/no-console",
    "vis/no-module-let",
  ]);
});
