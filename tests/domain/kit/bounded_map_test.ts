import assert from "node:assert/strict";
import { BoundedMap } from "../../../src/domain/kit/bounded_map.ts";

Deno.test("BoundedMap keeps the entries that were set last, and can be read during an iteration", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  for (const key of map.keys()) assert.ok(map.get(key));
  assert.deepEqual([...map.set("a", 3)], [["b", 2], ["a", 3]]);
  assert.deepEqual([...map.set("c", 4)], [["a", 3], ["c", 4]]);
});
