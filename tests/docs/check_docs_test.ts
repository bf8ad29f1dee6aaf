import assert from "node:assert/strict";
import { fragmentsOf, linksOf, pathsOf, problems, strayRowsOf } from "../../scripts/check_docs.ts";
import { EXPLANATIONS } from "../conformance/programs/explained.ts";

Deno.test("linksOf() finds relative links outside code, with fragments", () => {
  const page = "[a](x.md#top) [b](https://example.org) [c](../y/) [d](#here)\n```\n[no](z.md)\n```\n";
  assert.deepEqual(linksOf(page), ["x.md#top", "../y/", "#here"]);
});

Deno.test("fragmentsOf() makes the fragments of headings outside code", () => {
  const page = "# A `b.c`, and [d](e.md)\n```sh\n# no\n```\n## Über uns\n";
  assert.deepEqual(fragmentsOf(page), ["a-bc-and-d", "über-uns"]);
});

Deno.test("pathsOf() finds paths in backquotes and no patterns", () => {
  assert.deepEqual(pathsOf("`src/app.ts` `migrations/V<n>__*.sql` `word` `src/sandbox/`"), [
    "src/app.ts",
    "src/sandbox/",
  ]);
});

Deno.test("strayRowsOf() finds rows that an empty line has cut from their table", () => {
  const table = "| a | b |\n| - | - |\n| 1 | 2 |\n";
  assert.deepEqual(strayRowsOf(`${table}\n\`\`\`\n| code |\n\`\`\`\n`), []);
  assert.deepEqual(strayRowsOf(`${table}\n| 3 | 4 |\n| 5 | 6 |\n`), ["| 3 | 4 |"]);
});

Deno.test("links, headings and paths that the documentation names exist", async () => {
  assert.deepEqual(await problems(), []);
});

Deno.test("the pages that explain differences between Deno and the sandbox have these headings", async () => {
  for (const { where } of EXPLANATIONS) {
    const [path = "", fragment] = where.split("#");
    const page = await Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
    if (fragment !== undefined) assert.ok(fragmentsOf(page).includes(fragment), where);
  }
});
