import assert from "node:assert/strict";
import { linksOf, pathsOf } from "../../scripts/check_docs.ts";

Deno.test("linksOf() finds relative links outside code, without fragments", () => {
  const page = "[a](x.md#top) [b](https://example.org) [c](../y/) [d](#here)\n```\n[no](z.md)\n```\n";
  assert.deepEqual(linksOf(page), ["x.md", "../y/"]);
});

Deno.test("pathsOf() finds paths in backquotes and no patterns", () => {
  assert.deepEqual(pathsOf("`src/app.ts` `migrations/V<n>__*.sql` `word` `src/sandbox/`"), [
    "src/app.ts",
    "src/sandbox/",
  ]);
});
