import assert from "node:assert/strict";
import { compareVersions } from "../../../src/app/update/version.ts";

Deno.test("compareVersions() orders by number, a suffix before the version itself", () => {
  const ordered = ["0.9.9", "1.2.0-rc.2", "1.2.0-rc.10", "1.2.0", "1.2.1", "1.10.0", "2.0.0"];
  assert.deepEqual(ordered.toReversed().sort(compareVersions), ordered);
  assert.equal(compareVersions("1.2.0", "1.2.0"), 0);
  assert.equal(compareVersions("1.2.0-rc.1", "1.2.0-rc.1"), 0);
});
