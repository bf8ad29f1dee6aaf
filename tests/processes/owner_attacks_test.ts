import assert from "node:assert/strict";
import { attacksTogetherSuite, controlsSuite } from "./_attacks_suite.ts";
import { missing, OWNER } from "./_place.ts";

if (OWNER === null) {
  Deno.test("attacks with the id of a workspace's owner", { ignore: true }, () => assert.fail("they need root"));
} else {
  attacksTogetherSuite({ missing, timeoutMs: 120_000, owner: OWNER });
  controlsSuite({ missing, owner: OWNER });
}
