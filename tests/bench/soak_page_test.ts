import assert from "node:assert/strict";
import { soakPage } from "../../bench/support/soak_page.ts";

Deno.test("the page of a soak has its figures, and which target was missed", () => {
  const figure = { way: "compiled", unit: "×", samples: [1.2], min: 1.2, max: 1.2, note: "60 minutes" } as const;
  const page = soakPage({
    commit: "abc",
    machine: { cores: 2, memoryGb: 8, load: 0.123 },
    figures: [
      { ...figure, what: "memory", median: 1.2, bar: 1.05, met: false },
      { ...figure, what: "work", median: 1.01, bar: null, met: null },
    ],
  });
  assert.match(
    page,
    /`bin\/deno task soak` generates .* for 60 minutes\.\n.* a load of 0\.1; the commit is abc\./m,
  );
  assert.match(page, /^\| memory \| compiled \| 1\.20 × \| ≤ 1\.05 \| \*\*missed\*\* \|$/m);
  assert.match(page, /^\| work \| compiled \| 1\.01 × \| +\| +\|$/m);
});
