import assert from "node:assert/strict";
import { STATE_ROWS } from "./state_rows.ts";

const page = Deno.readTextFileSync(new URL("../../../docs/internals/architecture.md", import.meta.url)).split("\n");

for (const { state, event, next, drive } of STATE_ROWS) {
  Deno.test(`QueryLoop ${state}: ${event} → ${next}`, drive);
}

Deno.test("docs/internals/architecture.md has the table of states that the queries above go through", () => {
  const begin = page.findIndex((line) => /^\| state +\| event +\| next +\|$/.test(line));
  const lines = page.slice(begin + 2);
  const cells = lines.slice(0, lines.findIndex((line) => !line.startsWith("|")))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  assert.deepEqual(cells, STATE_ROWS.map(({ state, event, next }) => [state, event, next]));
});
