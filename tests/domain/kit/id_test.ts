import assert from "node:assert/strict";
import { newId } from "../../../src/domain/kit/id.ts";

Deno.test("newId() gives UUIDs that sort by time and never repeat", () => {
  const ids = Array.from({ length: 5000 }, newId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(ids.toSorted(), ids);
  assert.match(ids[0] ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
