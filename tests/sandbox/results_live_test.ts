import assert from "node:assert/strict";
import type { VariableImage } from "../../src/domain/query/variable.ts";
import { testSandbox } from "../helpers/sandbox.ts";

const RAN = { code: 1, stdout: "out", stderr: "" };
const HITS = [{ path: "a.ts", line: 3, text: "x" }, { path: "b.ts", line: 4, text: "y" }];
const LOG = { commits: [{ commit: "f00", subject: "one", author: { name: "A" } }], left: 0 };
const OPTIONS = {
  functions: {
    "shell.run": () => ({ ...RAN }),
    "fs.grep": () => HITS,
    "git.log": () => LOG,
    "fs.stat": () => null,
    "fs.fail": () => Promise.reject(new Error("no")),
    "fs.take": ({ args }: { readonly args: readonly unknown[] }) => JSON.stringify(args[0]),
  },
  misnamed: {
    "shell.run": { exitCode: "code", ok: "code === 0" },
    "fs.grep": { file: "path" },
    "git.log": { "commits.sha": "commit", all: "commits" },
    "fs.stat": { mtime: "modified" },
    "fs.fail": { message: "error" },
  },
};
const MAKE =
  "const r = await shell.run('x'), hits = await fs.grep('x'), log = await git.log(), plain = { code: 1, stdout: 'out', stderr: '' }";

const REFUSED: readonly (readonly [string, string])[] = [
  ["if (r.exitCode) throw 1", "A result of shell.run has no exitCode: use code"],
  ["r?.ok", "A result of shell.run has no ok: use code === 0"],
  ["const { exitCode } = r", "A result of shell.run has no exitCode: use code"],
  ["hits.map((hit) => hit.file)", "A result of fs.grep has no file: use path"],
  ["log.commits[0].sha", "A result of git.log.commits has no sha: use commit"],
  ["log.all", "A result of git.log has no all: use commits"],
];

const PLAIN: readonly (readonly [string, string])[] = [
  ["r", '{ code: 1, stdout: "out", stderr: "" }'],
  ["[r.code, r.stdout?.length, r.sha, hits[0].exitCode]", "[ 1, 3, undefined, undefined ]"],
  ["['exitCode' in r, 'code' in r, 'toString' in r, Object.hasOwn(r, 'exitCode')]", "[ false, true, true, false ]"],
  ["[Object.keys(r), Reflect.ownKeys(r).length]", '[ [ "code", "stdout", "stderr" ], 3 ]'],
  ["const seen = []; for (const key in r) seen.push(key); seen", '[ "code", "stdout", "stderr" ]'],
  ["JSON.stringify([r, hits, log]) === JSON.stringify([plain, ...JSON.parse(JSON.stringify([hits, log]))])", "true"],
  ["({ ...r }).exitCode", "undefined"],
  ["structuredClone(r)", '{ code: 1, stdout: "out", stderr: "" }'],
  [
    "[r.constructor === Object, `${r}`, r.hasOwnProperty('code'), r instanceof Object]",
    '[ true, "[object Object]", true, true ]',
  ],
  ["r.exitCode = 5; [r.exitCode, Object.keys(r).length, delete r.exitCode]", "[ 5, 4, true ]"],
  ["const { code, ...rest } = r; rest", '{ stdout: "out", stderr: "" }'],
  ["Object.assign({}, r)", '{ code: 1, stdout: "out", stderr: "" }'],
  ["await fs.take(r)", '"{\\"code\\":1,\\"stdout\\":\\"out\\",\\"stderr\\":\\"\\"}"'],
  ["new Map([[r, 1]]).get(r)", "1"],
  ["[await r === r, await fs.stat('x'), log.commits[0].author.sha]", "[ true, null, undefined ]"],
  ["Object.freeze(r); r", '{ code: 1, stdout: "out", stderr: "" }'],
];

Deno.test("a result that is asked for a name of similar tools throws with its own name for it", async () => {
  await using box = await testSandbox(OPTIONS);
  await box.run(MAKE);
  for (const [code, message] of REFUSED) assert.equal((await box.run(code)).result.error?.message, message, code);
  assert.equal((await box.run("await fs.fail()")).result.error?.message, "no");
});

Deno.test("apart from these names a result is a plain object", async () => {
  await using box = await testSandbox(OPTIONS);
  await box.run(MAKE);
  for (const [code, shown] of PLAIN) assert.equal(await box.show(code), shown, code);
});

Deno.test("a result keeps these names over a restart, and is plain if its function is missing", async () => {
  const stored: VariableImage[] = [];
  {
    await using box = await testSandbox(OPTIONS);
    stored.push(...(await box.run(`${MAKE}; const both = { r, list: hits }`)).saved);
  }
  assert.deepEqual(stored.map(({ kind }) => kind), ["data", "data", "data", "data", "data"]);
  {
    await using box = await testSandbox(OPTIONS);
    await box.sandbox.restore(stored);
    for (const [code, message] of REFUSED) assert.equal((await box.run(code)).result.error?.message, message, code);
    const { result } = await box.run("[both.r === r, both.list === hits, both.r.exitCode]");
    assert.equal(result.error?.message, "A result of shell.run has no exitCode: use code");
    assert.equal(await box.show("[both.r === r, both.list[1].path, r.code]"), '[ true, "b.ts", 1 ]');
  }
  await using box = await testSandbox({ functions: {} });
  await box.sandbox.restore(stored);
  assert.equal(await box.show("[r.exitCode, hits[0].file, both.r === r]"), "[ undefined, undefined, true ]");
});

Deno.test("a block cannot change the prototype of results", async () => {
  await using box = await testSandbox(OPTIONS);
  await box.run(MAKE);
  const set = "const p = Object.getPrototypeOf(r); [Reflect.set(p, 'x', 1, p), Reflect.setPrototypeOf(p, null), r.x]";
  assert.equal(await box.show(set), "[ false, false, undefined ]");
  assert.equal((await box.run("r.exitCode")).result.error?.message, "A result of shell.run has no exitCode: use code");
});
