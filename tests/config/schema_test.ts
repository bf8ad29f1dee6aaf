import assert from "node:assert/strict";
import { z } from "zod";
import { ConfigSchema } from "../../src/config/schema.ts";

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
}

function* leaves(node: Node, path: string): Generator<[string, Node]> {
  for (const [key, child] of Object.entries(node.properties ?? {})) {
    if (child.properties) yield* leaves(child, `${path}${key}.`);
    else yield [`${path}${key}`, child];
  }
}

Deno.test("ConfigSchema describes every field in a sentence", () => {
  const fields = [...leaves(z.toJSONSchema(ConfigSchema, { io: "input" }) as Node, "")];
  assert.ok(fields.length > 20);
  for (const [path, { description }] of fields) assert.match(description ?? "", /^[A-Z].{10,}[^.]$/, path);
});

Deno.test("ConfigSchema returns the same settings for an empty object and for its own defaults", () => {
  const defaults = ConfigSchema.parse({});
  assert.deepEqual(ConfigSchema.parse(defaults), defaults);
});
