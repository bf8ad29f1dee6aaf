import assert from "node:assert/strict";
import { join } from "node:path";
import { fetchPackage } from "../../scripts/conformance_package.ts";
import { withFolder } from "../helpers/with_folder.ts";
import { differencesOf } from "./programs/compare.ts";
import { explanationOf } from "./programs/explained.ts";
import { readFolder } from "./programs/read_folder.ts";
import { differenceText, suiteTable } from "./programs/suite_table.ts";
import { headerOf, skippedFor } from "./programs/test262.ts";

Deno.test("fetchPackage() wants a name with a version", async () => {
  for (const name of ["test262", "../x@1", "a/b@1", "@a/b"]) {
    await assert.rejects(fetchPackage(name), /Cannot fetch .*: it does not have the form name@version/);
  }
});

const OPTIONS = { batch: 10, deadlineMs: 20_000, isExpected: () => true };
const ALL = { only: "", limit: 100 };

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, path), text);
  }
}

Deno.test("headerOf() reads lists in both forms", () => {
  const inline = "/*---\ndescription: x\nincludes: [a.js, b.js]\nflags: [async]\n---*/";
  assert.deepEqual(headerOf(inline), { includes: ["a.js", "b.js"], flags: ["async"] });
  const lines = "/*---\nincludes:\n  - a.js\n  - b.js\nflags: [module]\n---*/";
  assert.deepEqual(headerOf(lines), { includes: ["a.js", "b.js"], flags: ["module"] });
  const negative = "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/";
  assert.deepEqual(headerOf(negative), { includes: [], flags: [], refusedWith: "SyntaxError" });
  assert.equal(headerOf("1"), null);
});

Deno.test("skippedFor() skips sloppy programs, modules and functions of a host", () => {
  assert.equal(skippedFor("", { includes: [], flags: ["noStrict"] }), "code that is not strict");
  assert.equal(skippedFor("", { includes: [], flags: ["module"] }), "modules");
  assert.equal(skippedFor("$262.createRealm()", { includes: [], flags: [] }), "functions of a test host");
  assert.equal(skippedFor("$262.gc()", { includes: [], flags: ["async"] }), null);
});

Deno.test("a checkout of test262 runs with its harness, also asynchronous tests", async () => {
  await withFolder(async (folder) => {
    await writeFiles(folder, {
      "harness/assert.js": "function assert(x) { if (!x) throw new Test262Error('no'); }",
      "harness/sta.js": "class Test262Error extends Error {}",
      "harness/more.js": "const more = 4;",
      "test/a.js": "/*---\nincludes: [more.js]\n---*/\nassert(more === 4); console.log('a');",
      "test/async.js": "/*---\nflags: [async]\n---*/\nsetTimeout(() => { assert(true); $DONE(); });",
      "test/fails.js": "/*---\ndescription: fails in both\n---*/\nassert(false);",
      "test/sloppy.js": "/*---\nflags: [noStrict]\n---*/",
      "test/x_FIXTURE.js": "0",
    });
    const { programs, skipped } = await readFolder(folder, ALL);
    assert.deepEqual(programs.map(({ name }) => name), ["test/a.js", "test/async.js", "test/fails.js"]);
    assert.deepEqual(skipped, { "code that is not strict": 1, "parts of other tests": 1 });
    assert.deepEqual(await differencesOf(programs, OPTIONS), []);
  });
});

Deno.test("a folder of programs is compared: differences are explained, or reported with both outcomes", async () => {
  await withFolder(async (folder) => {
    await writeFiles(folder, {
      "a.ts": "enum A { B = 2 }\nconsole.log({ a: [A.B, 'x'] });",
      "b.js": "console.log(eval('1'));",
      "deep/c.js": "function f() { return x }\ntry { f(); } catch (e) { console.log(e.name); }\nlet x = 1;",
      "other.txt": "not a program",
    });
    const { programs } = await readFolder(folder, ALL);
    const differences = await differencesOf(programs, OPTIONS);
    const names = differences.map((one) => [one.program.name, one.place, explanationOf(one)?.where]);
    assert.deepEqual(names.toSorted(), [
      ["b.js", "braces", "docs/internals/sandbox.md"],
      ["b.js", "top", "docs/internals/sandbox.md"],
      ["deep/c.js", "top", undefined],
    ]);
    const [left] = differences.filter((one) => !explanationOf(one));
    assert.match(
      left ? differenceText(left) : "",
      /deep\/c\.js, at top level\n[^]*plain Deno: "ReferenceError\\n", then ended/,
    );
    const table = suiteTable([{ name: "f", programs: 3, skipped: { modules: 2 }, differences, seconds: 1 }]);
    assert.match(table, /^f +3 +1 +1 +1 +1 s$/m);
    assert.match(table, /^2 +modules +f$/m);
  });
});

Deno.test("a program that does not end, or ends its process, does not stop the others", async () => {
  const texts = ["await new Promise(() => {})", "Deno.exit(3)", "console.log('last')"];
  const programs = texts.map((text, i) => ({ name: `${i}`, language: "js" as const, text }));
  const differences = await differencesOf(programs, { ...OPTIONS, deadlineMs: 6_000 });
  assert.deepEqual([...new Set(differences.map(({ program, plain }) => `${program.name} ${plain.error}`))], [
    "1 ended",
  ]);
});
