import assert from "node:assert/strict";
import { BOOK } from "../../../scripts/site/book.ts";
import { homePage, sitePage } from "../../../scripts/site/docs.ts";
import { filesOf } from "../../architecture/import_graph.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

Deno.test("every page of docs/ is in the book once, except the reasons of decisions", async () => {
  const listed = BOOK.flatMap(({ pages }) => pages.map(([path]) => `docs/${path}.md`));
  const there = (await filesOf(ROOT, "docs/")).filter((path) => path.endsWith(".md") && !path.includes("/decisions/"));
  assert.deepEqual(listed.toSorted(), there.toSorted());
  for (const [path, title] of BOOK.flatMap(({ pages }) => pages)) {
    assert.ok(homePage().includes(`[${title}](${path}.md)`), path);
  }
});

Deno.test("sitePage() keeps links between pages and makes text of the others", () => {
  const page =
    "<!-- made -->\nSee [a](start.md#x), [b](../src/app.ts), [c](extensions/), [d](https://e.org), [`f`](../AGENTS.md)";
  assert.equal(
    sitePage(page, "team.md"),
    "See [a](start.md#x), b, [c](extensions/README.md), [d](https://e.org), `f`",
  );
  assert.equal(
    sitePage("[a](../start.md), [b](mod.ts), ![i](x.png)", "extensions/fs.md"),
    "[a](../start.md), b, ![i](x.png)",
  );
});
