import { EventSource } from "eventsource";
import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { type Rig, startRig, TOKEN } from "../_rig.ts";

type Fetch = NonNullable<ConstructorParameters<typeof EventSource>[1]>["fetch"];

/** As the package's documentation says to send headers. */
const withToken: Fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...init?.headers, authorization: `Bearer ${TOKEN}` } });

async function ended(rig: Rig): Promise<string> {
  const at = `${rig.url}api/v1/conversations/${await rig.conversation()}`;
  const { queryId } = await (await rig.post(`${new URL(at).pathname}/messages`, { request: "x" })).json();
  return `${at}/queries/${queryId}/events`;
}

Deno.test("eventsource: every event has its name, and after the end the server stops it by 204", async () => {
  await using rig = await startRig([replyJson("1 + 1", { thinking: "Adding them" }), final("It is 2")]);
  const statuses: number[] = [];
  const source = new EventSource(await ended(rig), {
    fetch: async (input, init) => {
      const response = await withToken(input, init);
      statuses.push(response.status);
      return response;
    },
  });
  const seen: string[] = [];
  for (const type of ["started", "thinking", "block_started", "iteration_finished", "final"]) {
    source.addEventListener(type, ({ data }) => void seen.push(JSON.parse(data).type));
  }
  const stopped = Promise.withResolvers<void>();
  source.addEventListener("error", () => source.readyState === source.CLOSED && stopped.resolve());
  await stopped.promise;
  assert.deepEqual([seen[0], seen.at(-1)], ["started", "final"]);
  assert.ok(seen.includes("thinking") && seen.includes("block_started"));
  assert.equal(seen.filter((type) => type === "final").length, 1, "nothing is sent again");
  assert.deepEqual(statuses, [200, 204]);
});

Deno.test("eventsource: without a token it stops at once", async () => {
  await using rig = await startRig([final("It is 2")]);
  const source = new EventSource(await ended(rig));
  const failed = Promise.withResolvers<number | undefined>();
  source.addEventListener("error", ({ code }) => failed.resolve(code));
  assert.equal(await failed.promise, 401);
  assert.equal(source.readyState, source.CLOSED);
});
