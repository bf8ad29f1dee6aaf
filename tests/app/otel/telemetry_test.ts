import assert from "node:assert/strict";
import { join } from "node:path";
import { shipped } from "../../../extensions/index.ts";
import { serve } from "../../../src/app/services/serve.ts";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { type Arrived, startCollector } from "./_collector.ts";

const TOKEN = "test-token-0123456789";
const version = { vis: "1.2.3", deno: "", v8: "", compiled: false, target: "" };
const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const REQUEST = "a request that nobody else may read";

async function asked(
  env: Readonly<Record<string, string>>,
  replies: readonly string[],
  { again = 0 }: { readonly again?: number } = {},
): Promise<number> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-otel-" }));
  const mock = await startOpenAiMock({ key: "k", reply: replies });
  try {
    await Deno.writeTextFile(join(folder, "config.jsonc"), '{ "localServers": false }');
    const given = { VIS_HOME: folder, VIS_BASE_URL: mock.baseUrl, VIS_API_KEY: "k", VIS_MODEL: "m-1", ...env };
    const server = await serve({ cwd: folder, db: ":memory:", port: 0, token: TOKEN }, {
      ...{ env: given, version, shipped },
    });
    const post = (path: string, body: object) =>
      fetch(new URL(path, server.url), {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", traceparent: CALLER },
        body: JSON.stringify(body),
      });
    const { conversationId } = await (await post("/api/v1/conversations", { title: "t" })).json();
    const response = await post(`/api/v1/conversations/${conversationId}/messages`, { request: REQUEST });
    let { queryId } = await response.json();
    // The last query is run again in its place. When others follow it, it runs in a branch of its own.
    for (let time = 0; time < again; time++) {
      ({ queryId } = await (await post(`/api/v1/conversations/${conversationId}/retry`, { queryId })).json());
      await (await post(`/api/v1/conversations/${conversationId}/messages`, { request: "more" })).text();
    }
    await (await fetch(new URL("/healthz", server.url))).text();
    await server.close();
    return response.status;
  } finally {
    await mock.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const replies = [
  replyJson(["const kept = 7", "await fs.readFile('nothing.txt')"]),
  replyJson([], { final: "{{kept}} it is" }),
];

Deno.test("openTelemetry() sends a query as an agent's span, with spans of its calls, blocks and tools below", async () => {
  await using collector = startCollector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
  assert.equal(await asked(env, replies), 200);
  const [first] = collector.requests;
  assert.deepEqual([first?.path, first?.headers.get("x-key")], ["/v1/traces", "a b"]);
  assert.deepEqual(collector.resource(), {
    "service.version": "1.2.3",
    "deployment.environment.name": "test",
    "service.name": "vis",
  });
  const named = (name: string): readonly Arrived[] => collector.spans.filter((span) => span.name === name);
  const [agent] = named("invoke_agent vis");
  const route = "/api/v1/conversations/{id}/messages";
  const [server] = named(`POST ${route}`);
  assert.ok(agent && server);
  assert.ok(collector.spans.every(({ traceId }) => traceId === "0af7651916cd43dd8448eb211c80319c"));
  assert.deepEqual([server.parentSpanId, server.kind], ["b7ad6b7169203331", 2]);
  assert.deepEqual([server.attributes["http.response.status_code"], server.attributes["http.route"]], [200, route]);
  assert.equal(agent.parentSpanId, server.spanId);
  assert.equal(agent.attributes["gen_ai.operation.name"], "invoke_agent");
  assert.equal(agent.attributes["vis.iterations"], 2);
  assert.match(String(agent.attributes["gen_ai.conversation.id"]), /^[0-9a-f-]{36}$/);
  const chats = named("chat m-1");
  assert.equal(chats.length, 2);
  for (const { kind, parentSpanId, attributes } of chats) {
    assert.deepEqual([kind, parentSpanId], [3, agent.spanId]);
    assert.equal(attributes["gen_ai.operation.name"], "chat");
    assert.equal(typeof attributes["gen_ai.usage.input_tokens"], "number");
    assert.deepEqual(attributes["gen_ai.response.finish_reasons"], ["stop"]);
    assert.equal(attributes["gen_ai.request.stream"], true);
    assert.ok(Number(attributes["gen_ai.response.time_to_first_chunk"]) < 10, "in seconds");
  }
  const blocks = named("execute_tool typescript");
  assert.deepEqual(blocks.map(({ attributes }) => attributes["vis.block.outcome"]).toSorted(), ["error", "value"]);
  const bad = blocks.find(({ status }) => status.code === 2);
  const [call] = named("execute_tool fs.readFile");
  assert.equal(call?.parentSpanId, bad?.spanId);
  assert.ok(collector.spans.every(({ name }) => !name.startsWith("GET")), "probes are not traced");
  for (const { startTimeUnixNano, endTimeUnixNano } of collector.spans) {
    assert.match(startTimeUnixNano, /^\d{19}$/);
    assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano));
    assert.ok(Math.abs(Number(startTimeUnixNano) / 1e6 - Date.now()) < 60_000);
  }
  for (const { body } of collector.requests) {
    assert.ok(!body.includes(REQUEST) && !body.includes(TOKEN) && !body.includes("it is"), "no text is sent");
  }
});

Deno.test("openTelemetry() a repeated query has one span, in its place and in a branch", async () => {
  await using collector = startCollector();
  const finals = Array.from({ length: 5 }, (_, at) => replyJson([], { final: `Answer ${at}` }));
  await asked({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, finals, { again: 2 });
  const agents = collector.spans.filter(({ name }) => name === "invoke_agent vis");
  assert.equal(agents.length, 5);
  assert.equal(new Set(agents.map(({ attributes }) => attributes["vis.query.id"])).size, 5);
  assert.equal(collector.spans.filter(({ name }) => name === "chat m-1").length, 5);
});

Deno.test("openTelemetry() a collector that fails or disappears does not make a query fail", async () => {
  await using broken = startCollector(() => 400);
  for (const url of [broken.url, "http://127.0.0.1:1"]) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "1" };
    assert.equal(await asked(env, replies), 200, url);
  }
  assert.ok(broken.requests.length > 0);
});

Deno.test("openTelemetry() sends no spans if it is switched off or not sampled", async () => {
  await using collector = startCollector();
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  for (
    const env of [{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }, {
      OTEL_TRACES_SAMPLER: "always_off",
    }]
  ) {
    assert.equal(await asked({ ...on, ...env }, replies), 200);
  }
  assert.equal(collector.requests.length, 0);
});
