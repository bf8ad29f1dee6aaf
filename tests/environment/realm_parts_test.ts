import assert from "node:assert/strict";
import { boundText } from "../../src/environment/environment.ts";
import { value } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { recordingLog, sample, twice, VIEW } from "../extension/_sample.ts";

Deno.test("boundText() changes with a constant and a name, and not with a function that is replaced", async () => {
  const registry = new ExtensionRegistry({ log: recordingLog().log });
  const bound = async (limit: unknown, name = "limit") => {
    const symbols = [twice(() => limit), value(name, limit, { doc: "Most." })];
    registry.register(sample({ namespace: "test.a", symbols }));
    return boundText(await registry.activate(VIEW));
  };
  const first = await bound({ most: "5" });
  assert.equal(await bound({ most: "5" }), first);
  assert.notEqual(await bound({ most: "6" }), first);
  assert.notEqual(await bound({ most: "5" }, "other"), first);
  assert.notEqual(await bound(new Map([["a", 1]])), await bound(new Map([["a", 2]])));
});
