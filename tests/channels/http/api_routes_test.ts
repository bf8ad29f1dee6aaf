import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { type Rig, startRig } from "./_rig.ts";

async function read(rig: Rig, path: string) {
  const response = await rig.ask(path);
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return JSON.parse(text);
}

async function worked(): Promise<{ readonly rig: Rig; readonly id: string; readonly at: string }> {
  const rig = await startRig([
    replyJson(["let kept = [1]", "let long = 'a'.repeat(120_000)"], { thinking: "Begin" }),
    final("First answer"),
    replyJson("kept = [1, 2]\nlong += 'b'\nfunction double(n: number) { return n * 2 }"),
    final("Second answer"),
  ]);
  const id = await rig.conversation();
  const at = `/api/v1/conversations/${id}`;
  await (await rig.post(`${at}/messages`, { request: "first" })).text();
  await (await rig.post(`${at}/messages`, { request: "second" })).text();
  return { rig, id, at };
}

Deno.test("conversationRoutes() pages through the list and shows each conversation once", async () => {
  await using rig = await startRig([]);
  for (let made = 0; made < 7; made++) await rig.conversation();
  const seen: string[] = [];
  for (let cursor = "";;) {
    const { items, next } = await read(rig, `/api/v1/conversations?limit=3${cursor}`);
    seen.push(...items.map((item: { conversationId: string }) => item.conversationId));
    assert.ok(items.length <= 3);
    if (next === null) break;
    cursor = `&cursor=${next}`;
  }
  assert.deepEqual([seen.length, new Set(seen).size], [8, 8], "the engine has made one of its own");
  for (
    const wrong of ["limit=0", "cursor=x", `cursor=${btoa("[1,2,3]")}`, `cursor=${btoa('[1,"","\'--"]')}`, "cursor="]
  ) {
    assert.equal((await rig.ask(`/api/v1/conversations?${wrong}`)).status, 400, wrong);
  }
});

Deno.test("conversationRoutes() a page continues after the last one, whatever was added or moved to the front since", async () => {
  await using rig = await startRig([final("it moves")]);
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.push(await rig.conversation());
  const ids = (page: { items: { conversationId: string }[] }) => page.items.map(({ conversationId }) => conversationId);
  const first = await read(rig, "/api/v1/conversations?limit=2");
  assert.deepEqual(ids(first), [made[4], made[3]]);
  await rig.conversation();
  await (await rig.post(`/api/v1/conversations/${made[1]}/messages`, { request: "x" })).text();
  const second = await read(rig, `/api/v1/conversations?limit=2&cursor=${first.next}`);
  assert.deepEqual(ids(second), [made[2], made[0]]);
});

Deno.test("conversationRoutes() a new conversation has a place and a title of one line", async () => {
  await using rig = await startRig([]);
  const response = await rig.post("/api/v1/conversations", { title: "two\nlines" });
  const made = await response.json();
  assert.equal(response.status, 201);
  assert.equal(response.headers.get("location"), `/api/v1/conversations/${made.conversationId}`);
  const shown = await read(rig, `/api/v1/conversations/${made.conversationId.slice(0, 24)}`);
  assert.deepEqual([shown.title, shown.workspace, shown.running], ["two lines", "/work", null]);
  assert.equal((await rig.ask("/api/v1/conversations/ffffffff-0000")).status, 404);
});

Deno.test("queryRoutes() show iterations, sent messages, variables, versions and their differences", async () => {
  const { rig, at } = await worked();
  await using _ = rig;
  const [first] = (await read(rig, `${at}/queries`)).items;
  const { items } = await read(rig, `${at}/queries/${first.queryId}/iterations`);
  assert.deepEqual(items.map((one: { iteration: number }) => one.iteration), [1, 2]);
  assert.equal(items[0].thinking, "Begin");
  assert.equal(items[0].blocks[0].code, "let kept = [1]");
  assert.equal(items[0].blocks[0].result.ok, true);
  assert.ok(!("value" in items[0].blocks[0]), "bytes are not written out");
  const { messages } = await read(rig, `${at}/queries/${first.queryId}/iterations/1/messages`);
  assert.deepEqual(messages.map(({ role, text }: { role: string; text: string }) => [role, text]), [
    ...(await rig.engine.conversations.sentMessages(first.queryId, 0) ?? []).map(({ role, text }) => [role, text]),
  ]);
  assert.equal((await rig.ask(`${at}/queries/${first.queryId}/iterations/3/messages`)).status, 404);
  const names = (await read(rig, `${at}/variables`)).items.map(({ name }: { name: string }) => name);
  for (const name of ["kept", "double", "$query", "$answer"]) assert.ok(names.includes(name), name);
  const versions = (await read(rig, `${at}/variables/kept`)).items;
  assert.deepEqual(versions.map(({ value }: { value: string }) => JSON.parse(value)), [[1], [1, 2]]);
  assert.equal((await read(rig, `${at}/variables/kept?newest=1`)).items[0].version, 2);
  assert.deepEqual((await read(rig, `${at}/variables/kept?version=1`)).items, versions.slice(0, 1));
  assert.equal((await rig.ask(`${at}/variables/kept?version=9`)).status, 404);
  assert.match((await read(rig, `${at}/variables/double`)).items[0].value, /^function double/);
  assert.match(JSON.stringify((await read(rig, `${at}/variables/kept/diff?from=1&to=2`)).diff), /\+.*2/);
  const refused = async (path: string) => {
    const response = await rig.ask(`${at}/variables/${path}`);
    return [response.status, (await response.json()).detail];
  };
  assert.deepEqual(await refused("kept/diff?from=1&to=9"), [
    404,
    "Cannot find version 9 of variable kept: it has 2 versions; choose 1 to 2",
  ]);
  assert.deepEqual(await refused("nothing/diff?from=1&to=2"), [
    404,
    "Cannot find variable nothing: the server does not have it",
  ]);
  const [status, detail] = await refused("long/diff?from=1&to=2");
  assert.equal(status, 400);
  assert.match(
    detail,
    /^Cannot compare the versions of long: together they have 240001 characters, more than the limit of/,
  );
  assert.equal((await rig.ask(`${at}/variables/nothing`)).status, 404);
});

Deno.test("conversationRoutes() a fork sees the past up to its point and goes its own way", async () => {
  const { rig, at } = await worked();
  await using _ = rig;
  rig.engine.provider.push(replyJson("JSON.stringify(kept)"), final("Here it goes on"));
  const [first] = (await read(rig, `${at}/queries`)).items;
  const made = await (await rig.post(`${at}/fork`, { queryId: first.queryId, title: "Other way" })).json();
  const branch = `/api/v1/conversations/${made.branchId}`;
  assert.deepEqual((await read(rig, `${branch}/queries`)).items.map((q: { text: string }) => q.text), ["first"]);
  await (await rig.post(`${branch}/messages`, { request: "third" })).text();
  assert.match(rig.engine.context(5), /\[1\]/, "the variable is as it was at the fork");
  assert.equal((await read(rig, at.replace(/[^/]+$/, made.conversationId))).branches.length, 2);
  assert.equal((await rig.post(`${at}/fork`, { queryId: "01234567-none" })).status, 404);
  assert.equal((await rig.post(`${at}/fork`, { queryId: first.queryId, iteration: 99 })).status, 400);
});

Deno.test("recordRoutes() rename, search, export and delete", async () => {
  const { rig, id, at } = await worked();
  await using _ = rig;
  const headers = { "content-type": "application/json" };
  const renamed = await rig.ask(at, { method: "PATCH", headers, body: '{"title":"Better"}' });
  assert.equal((await renamed.json()).title, "Better");
  assert.equal((await read(rig, at)).title, "Better");
  const { items } = await read(rig, "/api/v1/search?q=second&kind=answer");
  assert.deepEqual(items.map((hit: { conversationId: string }) => hit.conversationId), [id]);
  const markdown = await rig.ask(`${at}/export?format=md`);
  assert.match(markdown.headers.get("content-disposition") ?? "", /^attachment; filename="vis-[0-9a-f-]{36}\.md"$/);
  assert.match(await markdown.text(), /Second answer/);
  const page = await rig.ask(`${at}/export?format=html`);
  assert.match(page.headers.get("content-disposition") ?? "", /^attachment; filename="vis-[0-9a-f-]{36}\.html"$/);
  assert.match(await page.text(), /^<!doctype html>[\s\S]*Second answer/);
  const whole = await rig.ask(`${at}/export`);
  const archive = await whole.text();
  assert.equal(whole.headers.get("content-length"), String(new TextEncoder().encode(archive).length));
  const head = await rig.ask(`${at}/export`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.equal(typeof JSON.parse(archive), "object");
  assert.equal((await rig.ask(at, { method: "DELETE" })).status, 204);
  assert.equal((await rig.ask(at)).status, 404);
});

Deno.test("search names a conversation like every other call: by its id, the beginning of it, or a branch", async () => {
  const { rig, id, at } = await worked();
  await using _ = rig;
  const [{ queryId }] = (await read(rig, `${at}/queries`)).items;
  const { branchId } = await (await rig.post(`${at}/fork`, { queryId })).json();
  for (const name of [id, id.slice(0, 24), branchId]) {
    const found = await read(rig, `/api/v1/search?q=second&kind=answer&conversation=${name}`);
    assert.equal(found.items.length, 1, `search in ${name}`);
  }
  assert.equal((await rig.ask("/api/v1/search?q=second&conversation=ffffffff-0000")).status, 404);
});

Deno.test("recordRoutes() a conversation with a running query is not deleted", async () => {
  await using rig = await startRig([{ text: final("never"), delayMs: 60_000 }]);
  const at = `/api/v1/conversations/${await rig.conversation()}`;
  const stream = await rig.post(`${at}/messages`, { request: "x" }, { accept: "text/event-stream" });
  assert.equal((await rig.ask(at, { method: "DELETE" })).status, 409);
  await stream.body?.cancel();
});

Deno.test("infoRoutes() describe the server, and the messages of a request without sending them", async () => {
  const { rig, at } = await worked();
  await using _ = rig;
  assert.deepEqual(await read(rig, "/api/v1"), {
    version: "1.2.3",
    provider: "scripted",
    model: "script",
    workspace: "/work",
    workspaces: ["/work"],
    limits: { maxIterations: null, maxCostUsd: null, timeoutMs: null },
  });
  assert.equal((await read(rig, "/api/v1/models")).items[0].provider, "scripted");
  const before = rig.engine.provider.requests.length;
  const texts = async (path: string): Promise<string> => {
    const { messages } = await (await rig.post(path, { request: "what then?" })).json();
    return messages.map(({ text }: { text: string }) => text).join("\n");
  };
  assert.doesNotMatch(await texts("/api/v1/prompt"), /kept/);
  assert.match(await texts(`${at}/prompt`), /what then\?[\s\S]*kept|kept[\s\S]*what then\?/);
  assert.equal(rig.engine.provider.requests.length, before);
});

Deno.test("an export whose file cannot be read is closed, so that others can begin", async () => {
  const { rig, at } = await worked();
  await using _ = rig;
  const { exports } = rig.engine.conversations;
  const make = exports.make.bind(exports);
  let closed = 0;
  exports.make = async (...given) => {
    const made = await make(...given);
    async function* pieces() {
      yield new Uint8Array(1);
      await Promise.reject(new Error("The disk failed"));
    }
    const close = async (): Promise<void> => {
      closed++;
      await made[Symbol.asyncDispose]();
    };
    return { bytes: 9, pieces, [Symbol.asyncDispose]: close };
  };
  await assert.rejects(rig.ask(`${at}/export`).then((response) => response.text()));
  assert.equal(closed, 1);
});
