import assert from "node:assert/strict";
import { DEFAULT_CONFIG } from "../../src/config/defaults.ts";
import { ConfigSchema } from "../../src/config/schema.ts";

Deno.test("DEFAULT_CONFIG is what the schema gives for an empty file", () => {
  assert.deepEqual(DEFAULT_CONFIG, ConfigSchema.parse({}));
});
