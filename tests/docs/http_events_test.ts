import assert from "node:assert/strict";
import { z } from "zod";
import { QueryEventSchema } from "../../src/domain/query/query_schemas.ts";

Deno.test("docs/serve/http.md names every event of a query", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/serve/http.md", import.meta.url));
  const schema = JSON.stringify(z.toJSONSchema(QueryEventSchema));
  const names = [...schema.matchAll(/"type":\{"type":"string","const":"(\w+)"\}/g)].map(([, name = ""]) => name);
  assert.ok(names.length > 15, schema.slice(0, 500));
  assert.deepEqual(names.filter((name) => !text.includes(`\`${name}\``)), []);
});
