import assert from "node:assert/strict";
import { z } from "zod";
import { QueryEventSchema } from "../../../src/domain/query/query_schemas.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { allEvents, SSE, startRig } from "./_rig.ts";

Deno.test("QueryEventSchema describes what streams: every event fits, with no field beyond", async () => {
  await using rig = await startRig([
    replyJson(["const a = 1; console.log(a)", "missing()"], { thinking: "First" }),
    replyJson([], { final: "It is {{a}}" }),
  ]);
  const id = await rig.conversation();
  const seen = await allEvents(await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE));
  for (const { data, event } of seen) {
    const { error } = strict(QueryEventSchema).safeParse(data);
    assert.equal(error, undefined, `${event}: ${error && z.prettifyError(error)}`);
  }
  const { components } = await (await rig.ask("/openapi.json")).json();
  const named = components.schemas.QueryEvent.oneOf.map((one: { properties: { type: { const: string } } }) =>
    one.properties.type.const
  );
  assert.deepEqual(named.toSorted(), QueryEventSchema.options.map(({ shape }) => shape.type.value).toSorted());
});

function strict(schema: typeof QueryEventSchema): z.ZodType {
  return z.union(schema.options.map((option): z.ZodType => option.strict()));
}
