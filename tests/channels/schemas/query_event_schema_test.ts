import assert from "node:assert/strict";
import { z } from "zod";
import { QueryEventSchema } from "../../../src/channels/schemas/query_event_schema.ts";
import type { QueryEvent } from "../../../src/domain/query/query_event.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { allEvents, SSE, startRig } from "../http/_rig.ts";

type Described = z.infer<typeof QueryEventSchema>;
/** Does not compile where one of them is not described, or is no event. */
const TYPES: Readonly<Record<QueryEvent["type"] & Described["type"], true>> & Record<QueryEvent["type"], true> = {
  ...{ started: true, thinking: true, code: true, block_started: true, block_finished: true, host_call: true },
  ...{
    iteration_started: true,
    steered: true,
    approval_requested: true,
    approval_answered: true,
    nudge: true,
    retrying: true,
    waiting: true,
    usage: true,
    iteration_finished: true,
    answer_delta: true,
    final: true,
    failed: true,
  },
  cancelled: true,
};

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
  assert.deepEqual(named.toSorted(), Object.keys(TYPES).toSorted());
});

function strict(schema: typeof QueryEventSchema): z.ZodType {
  return z.union(schema.options.map((option): z.ZodType => option.strict()));
}
