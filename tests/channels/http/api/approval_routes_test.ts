import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { ASKING } from "../../../helpers/asking_extension.ts";
import { type Rig, SSE, startRig } from "../_rig.ts";

const ASKS = replyJson("const said = await asking.open()");
const SAID = final("{{said.allowed}} {{said.reason}}");
const options = { engine: { extensions: [ASKING] } };

interface Question {
  readonly id: string;
  readonly what: string;
}

/** The questions of a conversation, as soon as there is one. */
async function asked(rig: Rig, id: string): Promise<readonly Question[]> {
  for (;;) {
    const { items } = await (await rig.ask(`/api/v1/conversations/${id}/approvals`)).json();
    if (items.length > 0) return items;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("a client that says so is asked: the question is an event and in a list, and its answer goes to the call", async () => {
  await using rig = await startRig([ASKS, SAID], options);
  const id = await rig.conversation();
  const stream = await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x", approvals: "ask" }, SSE);
  const events = stream.text();
  const [question] = await asked(rig, id);
  assert.deepEqual({ ...question, id: "" }, {
    id: "",
    extension: "test.asking",
    what: "open doors",
    why: "It is locked.",
    scope: "doors",
  });
  const at = `/api/v1/conversations/${id}/approvals/${question?.id}`;
  const wrong = await rig.post(at, { decision: "maybe" });
  assert.deepEqual([wrong.status, (await asked(rig, id)).length], [400, 1]);
  const answered = await rig.post(at, { decision: "no", reason: "not today" });
  assert.deepEqual([answered.status, await answered.json()], [200, { decision: "no", reason: "not today" }]);
  const text = await events;
  assert.match(
    text,
    /event: approval_requested\n.*"what":"open doors"[^]*event: approval_answered\n.*"reason":"not today"/,
  );
  assert.match(text, /false the user said no: not today/);
  const late = await rig.post(at, { decision: "once" });
  assert.equal(late.status, 404);
  assert.match((await late.json()).detail, /^Cannot answer question .*: no such question waits here/);
});

Deno.test("a question that is asked every time takes no lasting answer", async () => {
  await using rig = await startRig(
    [replyJson('const said = await asking.open("doors", "open doors", "", false)'), SAID],
    options,
  );
  const id = await rig.conversation();
  const sent = rig.post(`/api/v1/conversations/${id}/messages`, { request: "x", approvals: "ask" });
  const [question] = await asked(rig, id);
  const at = `/api/v1/conversations/${id}/approvals/${question?.id}`;
  const wrong = await rig.post(at, { decision: "workspace" });
  assert.equal(wrong.status, 400);
  assert.equal(
    (await wrong.json()).detail,
    "Cannot answer workspace: this question is asked every time; answer once or no",
  );
  assert.equal((await rig.post(at, { decision: "once" })).status, 200);
  assert.equal((await (await sent).json()).answer, "true ");
});

Deno.test("a client that does not say so is not kept waiting", async () => {
  await using rig = await startRig([ASKS, SAID, ASKS, SAID], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const sent = await (await rig.post(`${path}/messages`, { request: "x" })).json();
  assert.equal(sent.answer, "false nobody can be asked here");
  const again = await (await rig.post(`${path}/retry`, { queryId: sent.queryId })).json();
  assert.equal(again.answer, "false nobody can be asked here");
});

Deno.test("a retry asks as well, other clients can answer, and of two answers the first one counts", async () => {
  await using rig = await startRig([final("first"), ASKS, SAID], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const { queryId } = await (await rig.post(`${path}/messages`, { request: "x" })).json();
  const leaving = new AbortController();
  const stream = await rig.ask(`${path}/retry`, {
    method: "POST",
    headers: { "content-type": "application/json", ...SSE },
    body: JSON.stringify({ queryId, approvals: "ask" }),
    signal: leaving.signal,
  });
  const [question] = await asked(rig, id);
  leaving.abort();
  await stream.text().catch(() => {});
  const answers = await Promise.all(
    ["conversation", "no"].map((decision) => rig.post(`${path}/approvals/${question?.id}`, { decision })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
  for (;;) {
    const { items } = await (await rig.ask(`${path}/queries`)).json();
    if (items.at(-1).running) continue;
    assert.match(items.at(-1).answer, /^(true|false the user said no)/);
    return;
  }
});

Deno.test("cancelling ends the question, and so does a server that ends", async () => {
  await using rig = await startRig([ASKS, ASKS], options);
  const id = await rig.conversation();
  const path = `/api/v1/conversations/${id}`;
  const first = rig.post(`${path}/messages`, { request: "x", approvals: "ask" });
  await asked(rig, id);
  await rig.post(`${path}/cancel`);
  assert.equal((await (await first).json()).reason, "cancelled");
  assert.deepEqual(await (await rig.ask(`${path}/approvals`)).json(), { items: [] });
  const second = rig.post(`${path}/messages`, { request: "x", approvals: "ask" });
  await asked(rig, id);
  await rig.close();
  assert.equal((await (await second).json()).reason, "cancelled");
});
