import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { type Rig, SSE } from "./_rig.ts";
import { type Named, startTenants, type TenantsRig } from "./_tenants_rig.ts";

const ABSENT: Named = {
  id: "01000001-0000-7000-8000-000000000000",
  queryId: "01000002-0000-7000-8000-000000000000",
  approvalId: "01000003-0000-7000-8000-000000000000",
};
const KEY = { "idempotency-key": "key 1" };
const SECRET = /marmalade|vault|Ana's/i;

interface Attempt {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
}

const ATTEMPTS: Readonly<Record<string, (named: Named) => readonly Attempt[]>> = {
  health: () => [{}],
  readiness: () => [{}],
  metrics: () => [{}],
  about: () => [{}],
  listModels: () => [{}],
  findFiles: ({ id }) => [{ query: `?q=a&conversation=${id}` }],
  listPrompts: ({ id }) => [{ query: `?conversation=${id}` }],
  readMarkdown: () => [{ body: { texts: ["# x"] } }],
  listExtensions: () => [{}],
  listTokens: () => [{}],
  previewPrompt: () => [{ body: { request: "what?" } }],
  previewPromptIn: () => [{ body: { request: "what?" } }],
  search: ({ id }) => [{ query: "?q=marmalade" }, { query: "?q=vault" }, { query: `?q=marmalade&conversation=${id}` }],
  listConversations: () => [{}, { query: "?limit=1" }],
  createConversation: () => [{ body: { title: "mine" } }],
  getConversation: () => [{}],
  renameConversation: () => [{ body: { title: "taken" } }],
  deleteConversation: () => [{}],
  listQueries: () => [{}, { query: "?answers=tree" }],
  forkConversation: ({ queryId }) => [{ body: { queryId } }, { body: { queryId, iteration: 1 } }],
  cancel: () => [{ body: {} }],
  exportConversation: () => [{}, { query: "?format=md" }, { query: "?format=html" }],
  sendMessage: () => [
    { body: { request: "mine" } },
    { body: { request: "marmalade?" }, headers: KEY },
    { body: { request: "stop", whenBusy: "steer" } },
    { body: { request: "marmalade?" }, headers: { ...KEY, "x-vis-resume": "true" } },
  ],
  retryQuery: ({ queryId }) => [{ body: { queryId } }, { body: { queryId }, headers: KEY }],
  followQuery: () => [{}, { headers: { "last-event-id": "1" } }],
  listApprovals: () => [{}],
  listCommands: () => [{}],
  stopCommand: () => [{ body: {} }],
  answerApproval: () => [{ body: { decision: "once" } }],
  listIterations: () => [{}],
  getSentMessages: () => [{}],
  listVariables: () => [{}],
  getVariableHistory: () => [{}],
  getVariableDiff: () => [{ query: "?from=1&to=1" }],
  getGraph: () => [{}],
  previewUndo: () => [{}],
  undo: () => [{ body: { changes: ["1-a"] } }, { body: { redo: true } }],
  openaiListModels: () => [{}],
  openaiGetModel: () => [{}],
  openaiChatCompletion: ({ id }) => [
    { body: { model: "vis", messages: [{ role: "user", content: "x" }] }, headers: { "x-vis-conversation": id } },
    {
      body: { model: "vis", messages: [{ role: "user", content: "x" }], metadata: { conversation: id } },
      headers: KEY,
    },
  ],
  openaiCreateResponse: ({ id, queryId }) => [
    { body: { input: "x", previous_response_id: `resp_${queryId}` } },
    { body: { input: "x", conversation: id } },
    { body: { input: [{ type: "item_reference", id: `msg_${queryId}` }, { role: "user", content: "x" }] } },
  ],
  openaiGetResponse: () => [{}],
};

const OPEN = new Set([
  "readMarkdown",
  "health",
  "readiness",
  "metrics",
  "about",
  "listModels",
  "listExtensions",
  "previewPrompt",
]);
const LISTS = new Set(["search", "listConversations", "createConversation", "openaiListModels", "openaiGetModel"]);
/** These routes need the scope admin for any row. */
const ADMIN = new Set(["listTokens", "deleteConversation"]);

async function operations(rig: Rig): Promise<readonly Operation[]> {
  const { paths }: { readonly paths: Readonly<Record<string, Readonly<Record<string, Partial<Operation>>>>> } =
    await (await rig.ask("/openapi.json")).json();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ operationId, method: method.toUpperCase(), path }]
    )
  );
}

export async function prepare({ as, says, rig }: TenantsRig): Promise<Named & { readonly waiting: Promise<string> }> {
  const ana = as("ana");
  const { conversationId: id } = await (await ana.post("/api/v1/conversations", { title: "Ana's plan" })).json();
  says(replyJson('const vault = "marmalade"\nawait spy.keep()'), final("The marmalade is in the {{vault}}"));
  const at = `/api/v1/conversations/${id}`;
  const sent = await (await ana.post(`${at}/messages`, { request: "marmalade?" }, KEY)).json();
  assert.equal(sent.answer, "The marmalade is in the marmalade", JSON.stringify(sent));
  says(replyJson("const said = await asking.open()"), final("{{said.allowed}}"));
  const stream = await ana.post(`${at}/messages`, { request: "and now?", approvals: "ask" }, SSE);
  for (;;) {
    const { items: [question] } = await (await ana.ask(`${at}/approvals`)).json();
    if (!question) continue;
    assert.equal(rig.engine.provider.remaining, 1);
    return { id, queryId: sent.queryId, approvalId: question.id, waiting: stream.text() };
  }
}

async function outcome(
  who: Pick<Rig, "ask">,
  { operation: { path, method }, named, attempt }: {
    readonly operation: Operation;
    readonly named: Named;
    readonly attempt: Attempt;
  },
): Promise<{ readonly status: number; readonly text: string }> {
  const { id, queryId, approvalId } = named;
  const values = {
    id,
    queryId,
    approvalId,
    commandId: queryId,
    iteration: "1",
    name: "vault",
    response: `resp_${queryId}`,
    model: "vis",
  };
  const filled = Object.entries(values).reduce((text, [key, value]) => text.replace(`{${key}}`, value), path);
  const { body, headers, query = "" } = attempt;
  const response = await who.ask(`${filled}${query}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const whole = (await response.text()).replace(/urn:vis:request:[\w-]+/, "");
  const text = Object.entries(named).reduce((sum, [name, value]) => sum.replaceAll(value, name), whole);
  return { status: response.status, text };
}

/** Tries every route with ana's rows. Returns the number of attempts. */
export async function attackRoutes({ rig, as }: TenantsRig, ana: Named): Promise<number> {
  const ben = as("ben");
  const { conversationId } = await (await ben.post("/api/v1/conversations", { title: "Ben's" })).json();
  const all = (await operations(rig)).flatMap((operation) => triesOf(operation, { ana, own: conversationId }));
  for (const one of all) {
    const { operation: { operationId }, foreign, absent } = one;
    const what = `${operationId} ${JSON.stringify(foreign)}`;
    const found = await outcome(ben, { ...one, ...foreign });
    assert.doesNotMatch(found.text.replaceAll("?q=", ""), SECRET, what);
    const isList = LISTS.has(operationId) && !foreign.attempt.query?.includes("conversation=");
    if (OPEN.has(operationId) || isList) {
      assert.ok(found.status < 300, what);
      assert.ok(![ana.id, ana.queryId].some((id) => found.text.includes(id)), what);
      continue;
    }
    assert.equal(found.status, ADMIN.has(operationId) ? 403 : 404, `${what}: ${found.text}`);
    assert.deepEqual(found, await outcome(ben, { ...one, ...absent }), what);
  }
  return all.length;
}

interface Try {
  readonly named: Named;
  readonly attempt: Attempt;
}

function triesOf(operation: Operation, { ana, own: id }: { readonly ana: Named; readonly own: string }) {
  const { operationId, path } = operation;
  const of = ATTEMPTS[operationId];
  assert.ok(of, `${operationId} is a new route: say here how a stranger would try it`);
  const isNested = /\{(?:queryId|approvalId|commandId|response)\}/.test(path) ||
    ["retryQuery", "forkConversation"].includes(operationId);
  const places: readonly (readonly [Named, Named])[] = [
    [ana, ABSENT],
    [{ ...ana, id: ana.id.slice(0, 23) }, { ...ABSENT, id: ABSENT.id.slice(0, 23) }],
    ...(isNested ? [[{ ...ana, id }, { ...ABSENT, id }] as const] : []),
  ];
  const tries = (named: Named): readonly Try[] => of(named).map((attempt) => ({ named, attempt }));
  return places.flatMap(([foreign, absent]) => {
    const nobody = tries(absent);
    return tries(foreign).map((one, at) => ({ operation, foreign: one, absent: nobody[at] ?? one }));
  });
}

/** Runs a query of ben whose block tries every function that reads stored rows. */
async function attackFromBlock({ as, says, aim, seen }: TenantsRig, ana: Named): Promise<void> {
  const look = async (named: Named): Promise<ReadonlyMap<string, unknown>> => {
    aim(named);
    says(replyJson("const seen = await spy.look()"), final("{{seen}}"));
    const ben = as("ben");
    const { conversationId } = await (await ben.post("/api/v1/conversations", { title: "Looking" })).json();
    const result = await (await ben.post(`/api/v1/conversations/${conversationId}/messages`, { request: "look" }))
      .json();
    assert.equal(result.answer, "19", JSON.stringify(result));
    return new Map(seen);
  };
  for (const [name, found] of await look(ana)) {
    const text = JSON.stringify(found) ?? "";
    assert.doesNotMatch(text, SECRET, name);
    if (!text.includes("Cannot find")) assert.ok(![ana.id, ana.queryId].some((id) => text.includes(id)), name);
  }
  const foreign = seen.get("db.queries"), absent = (await look(ABSENT)).get("db.queries");
  assert.equal(String(foreign).replaceAll(ana.id, ""), String(absent).replaceAll(ABSENT.id, ""));
}

/** The same key and body from another tenant is another request. */
async function attackKeys({ as, says }: TenantsRig): Promise<void> {
  const body = { model: "vis", messages: [{ role: "user", content: "marmalade?" }] };
  const answers: string[] = [];
  for (const person of ["ana", "ben", "ana", "ben"] as const) {
    if (answers.length < 2) says(final(`for ${person}`));
    const { choices } = await (await as(person).post("/v1/chat/completions", body, KEY)).json();
    answers.push(choices[0].message.content);
  }
  assert.deepEqual(answers, ["for ana", "for ben", "for ana", "for ben"]);
}

export async function check(path: string): Promise<void> {
  await using tenants = await startTenants(path);
  const { as, says, seen } = tenants;
  const ana = await prepare(tenants);
  assert.ok(await attackRoutes(tenants, ana) > 100);
  const at = `/api/v1/conversations/${ana.id}`;
  assert.equal((await (await as("ana").ask(at)).json()).title, "Ana's plan", "nothing was changed");
  assert.equal((await as("ana").post(`${at}/approvals/${ana.approvalId}`, { decision: "workspace" })).status, 200);
  assert.match(await ana.waiting, /event: final/);
  await attackFromBlock(tenants, ana);
  await attackKeys(tenants);

  const metrics = async (person: "ana" | "ben" | "root") => {
    const text = await (await as(person).ask("/metrics")).text();
    return Number(/^vis_queries_total.* (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  assert.deepEqual([await metrics("ana"), await metrics("ben"), await metrics("root")], [3, 3, 6]);

  const listed = async (person: "ana" | "root") =>
    (await (await as(person).ask("/api/v1/conversations")).json()).items.length;
  assert.ok(await listed("root") > await listed("ana"), "admin sees all");
  tenants.aim(ana);
  says(replyJson("const seen = await spy.look()"), final("{{seen}}"));
  await (await as("root").post(`${at}/messages`, { request: "look" })).json();
  const there = JSON.stringify(seen.get("db.conversations"));
  assert.match(there, /Ana's plan/);
  assert.doesNotMatch(there, /Ben's|Looking/, "what admin begins in a conversation sees what its tenant sees");
  assert.match(JSON.stringify(seen.get("store.get")), /\["marmalade","marmalade","marmalade"\]/);
}
