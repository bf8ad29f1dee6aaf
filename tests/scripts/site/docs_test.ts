import assert from "node:assert/strict";
import { join } from "node:path";
import { homePage, partsOf, sitePage } from "../../../scripts/site/docs.ts";
import { filesOf } from "../../architecture/import_graph.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

Deno.test("docs/README.md lists every page once, except the reasons of decisions", async () => {
  const parts = partsOf(await Deno.readTextFile(join(ROOT, "docs/README.md")));
  const listed = parts.flatMap(({ pages }) => pages.map(([path]) => `docs/${path}.md`));
  const there = (await filesOf(ROOT, "docs/")).filter((path) => /\.md$/.test(path) && !/\/decisions\/\d/.test(path));
  assert.deepEqual(["docs/README.md", ...listed].toSorted(), there.toSorted());
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

Deno.test("homePage() is the README, with links that start in docs/", () => {
  assert.equal(
    homePage(
      "[a](docs/guide/start.md#x), [all](docs/README.md), ![i](docs/images/x.svg), [c](AGENTS.md), [d](https://e.org)",
    ),
    "[a](guide/start.md#x), [all](README.md), ![i](images/x.svg), c, [d](https://e.org)",
  );
});
