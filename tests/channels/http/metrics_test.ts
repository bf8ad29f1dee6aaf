import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { allEvents, SSE, startRig } from "./_rig.ts";

Deno.test("Metrics names are as Prometheus wants them: base units written out, counters and no others in _total", async () => {
  await using rig = await startRig([final("x")]);
  await (await rig.post(`/api/v1/conversations/${await rig.conversation()}/messages`, { request: "x" })).text();
  const text = await (await rig.ask("/metrics")).text();
  const families = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE (\S+) (\S+)\n((?:\3.* [\d.e+-]+\n)*)/gm)];
  assert.ok(families.length >= 15);
  for (const [, name = "", help = "", same, type, samples = ""] of families) {
    assert.equal(name, same);
    assert.match(name, /^[a-z]+(_[a-z]+)+$/);
    assert.match(help, /^[A-Z].*\.$/);
    assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.doesNotMatch(name, /_(s|ms|us|ns|sec|min|kb|mb|b|pct|usd|count|sum|bucket|info_.*)(_|$)/);
    if (/duration|time/.test(name)) assert.match(name, /_seconds(_total)?$/);
    if (type === "histogram") assert.match(samples, /_bucket\{le="\+Inf".*\} \d+\n.*_sum.* [^]*_count/);
  }
  assert.equal(text, families.map(([whole]) => whole).join(""), "nothing stands between the families");
});

Deno.test("metricsRoutes() reports requests, streams, queries, blocks and tokens, and requires a token", async () => {
  await using rig = await startRig([
    { text: replyJson(["const a = 1", "missing()"]), usage: { input: 100, output: 20, cached: 60 } },
    { text: final("{{a}} it is"), usage: { input: 10, output: 2 } },
  ]);
  assert.equal((await fetch(new URL("/metrics", rig.url))).status, 401);
  const id = await rig.conversation();
  await allEvents(await rig.post(`/api/v1/conversations/${id}/messages`, { request: "x" }, SSE));
  await (await rig.ask("/nowhere/of/note")).body?.cancel();
  await (await rig.ask("/api/v1", { method: "PROPFIND" })).body?.cancel();
  const response = await rig.ask("/metrics");
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  const has = (line: string): void => assert.ok(text.split("\n").includes(line), `${line} in\n${text}`);
  has('vis_build_info{version="1.2.3"} 1');
  has('vis_http_requests_total{method="POST",route="/api/v1/conversations/{id}/messages",status="200"} 1');
  has('vis_http_requests_total{method="GET",route="other",status="404"} 1');
  has('vis_http_requests_total{method="other",route="other",status="405"} 1');
  has('vis_queries_total{status="done",reason="answered"} 1');
  has('vis_blocks_total{outcome="error"} 1');
  has('vis_iterations_total{outcome="executed"} 1');
  has('vis_tokens_total{kind="input"} 110');
  has('vis_tokens_total{kind="cached"} 60');
  has("vis_queries_running 0");
  has("vis_http_streams_open 0");
  assert.match(text, /^process_resident_memory_bytes \d{7,}$/m);
  const lines = text.trimEnd().split("\n");
  for (const line of lines) {
    assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[^{}]*(\{\w+\}[^{}]*)*\})? [\d.e+-]+)$/);
  }
  const names = lines.filter((line) => line.startsWith("# TYPE")).map((line) => line.split(" "));
  for (const [, , name = "", type] of names) {
    assert.ok(type !== "counter" || name.endsWith("_total"), `${name} is a counter`);
  }
});

Deno.test("metricsRoutes() names open routes by their paths, and no path that only a client chose", async () => {
  await using rig = await startRig([]);
  for (const path of ["/healthz", "/docs", "/assets/none", "/none"]) await (await rig.ask(path)).body?.cancel();
  await (await rig.ask("/healthz", { method: "PUT" })).body?.cancel();
  const text = await (await rig.ask("/metrics")).text();
  const counted = [...text.matchAll(/^vis_http_requests_total\{(.+)\} 1$/gm)].map(([, labels]) => labels);
  assert.deepEqual(counted, [
    'method="GET",route="/healthz",status="200"',
    'method="GET",route="/docs",status="200"',
    'method="GET",route="/assets/{name}",status="404"',
    'method="GET",route="other",status="404"',
    'method="PUT",route="other",status="405"',
  ]);
});

Deno.test("metricsRoutes() counts streams while they are followed", async () => {
  await using rig = await startRig([{ text: final("never"), delayMs: 60_000 }]);
  const id = await rig.conversation();
  const abort = new AbortController();
  const path = `/api/v1/conversations/${id}/messages`;
  const headers = { ...SSE, "content-type": "application/json" };
  const response = await rig.ask(path, { method: "POST", headers, body: '{"request":"x"}', signal: abort.signal });
  assert.equal(response.status, 200);
  const gauges = async () => /^vis_queries_running (\d+)$[^]*/m.exec(await (await rig.ask("/metrics")).text())?.[1];
  assert.equal(await gauges(), "1");
  assert.match(await (await rig.ask("/metrics")).text(), /^vis_http_streams_open 1$/m);
  abort.abort();
  const isLeft = async () => /^vis_http_streams_open 0$/m.test(await (await rig.ask("/metrics")).text());
  for (let tries = 0; !await isLeft(); tries++) assert.ok(tries < 200, "the stream was left");
});
