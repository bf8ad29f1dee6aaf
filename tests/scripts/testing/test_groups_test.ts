import assert from "node:assert/strict";
import { join } from "node:path";
import { groupName, groupTests, isLong, testFiles } from "../../../scripts/testing/test_groups.ts";
import { ROOT } from "../../../scripts/_project.ts";

const MANY = Array.from({ length: 100 }, (_, at) => `tests/query/${at}_test.ts`);

Deno.test("testFiles() finds the tests at and below paths, each once", async () => {
  const all = await testFiles(ROOT, []);
  const own = "tests/scripts/testing/test_groups_test.ts";
  assert.ok(all.includes(own) && all.includes("tests/ground/test_task_test.ts"));
  assert.ok(all.every((file) => file.endsWith("_test.ts")));
  const site = "tests/scripts/site/docs_test.ts";
  assert.deepEqual(await testFiles(ROOT, [own, join("tests", "scripts", "site"), own]), [site, own]);
});

Deno.test("groupTests() has each file once, and slow files first and alone", async () => {
  const files = await testFiles(ROOT, []);
  const groups = groupTests(files, 3);
  assert.deepEqual(groups.flat().toSorted(), files);
  const isFirst = (file: string) => isLong(file) || file.startsWith("tests/e2e/");
  const first = groups.slice(0, files.filter(isFirst).length);
  assert.ok(first.every((group) => group.length === 1 && group.every(isFirst)), first.join(" "));
  assert.ok(groups.some((group) => group.length === 64 && group.includes("tests/query/last_call_test.ts")));
  assert.ok(groups.some((group) => group.length === 1 && group.includes("tests/sandbox/codec/decode_test.ts")));
});

Deno.test("groupTests() has quick files last, in small groups, and keeps the order of neighbours", async () => {
  const files = (await testFiles(ROOT, [])).filter((file) => !isLong(file));
  const groups = groupTests(files, 3);
  for (const group of groups) assert.deepEqual(group, group.toSorted());
  const last = groups.slice(-3);
  assert.ok(last.every((group) => group.length <= 16), last.join(" "));
  assert.ok(last.flat().every((file) => /^tests\/(?:domain|scripts)\//.test(file)), last.join(" "));
});

Deno.test("isLong() names files and folders that exist", async () => {
  const long = (await testFiles(ROOT, [])).filter(isLong);
  for (const part of ["sandbox/attacks/", "persistence/postgres/", "e2e/page/", "faults/chaos_test.ts"]) {
    assert.ok(long.some((file) => file.startsWith(`tests/${part}`)), part);
  }
  assert.ok(!long.includes("tests/e2e/source_test.ts") && !long.some((file) => file.startsWith("tests/query/")));
});

Deno.test("groupTests() divides few files among as many isolates as are wanted", () => {
  const sizes = (count: number, parts: number) => groupTests(MANY.slice(0, count), parts).map(({ length }) => length);
  assert.deepEqual(sizes(100, 3), [34, 22, 15, 12, 12, 5]);
  assert.deepEqual([sizes(8, 3), sizes(2, 3), sizes(1, 3), sizes(0, 3)], [[3, 3, 2], [1, 1], [1], []]);
});

Deno.test("groupName() names the first file, and is another one for each group", async () => {
  assert.equal(groupName(["tests/e2e/page/page_test.ts"]), "tests.e2e.page.page_test.ts");
  assert.equal(groupName(["tests/query/a_test.ts", "tests/query/b_test.ts"]), "tests.query.a_test+1.ts");
  const names = groupTests(await testFiles(ROOT, []), 3).map(groupName);
  assert.equal(new Set(names).size, names.length);
});
