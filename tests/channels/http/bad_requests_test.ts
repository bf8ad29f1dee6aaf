import assert from "node:assert/strict";
import fc from "fast-check";
import { startRig, TOKEN } from "./_rig.ts";

const PATHS = [
  ...["/api/v1", "/api/v1/conversations", "/api/v1/models", "/api/v1/prompt", "/v1/models", "/v1/models/x"],
  ...["/v1/chat/completions", "/openapi.json", "/healthz", "/assets/x", "/", "/v1/responses", "/v1/responses/ID"],
  ...[
    "/docs",
    "/docs/style.css",
    "/metrics",
    "/readyz",
    "/api/v1/extensions",
    "/api/v1/search",
    "/v1/responses/resp_ID",
  ],
  ...["ID", "ID/queries", "ID/fork", "ID/cancel", "ID/messages", "ID/retry", "ID/prompt", "ID/variables"].map(inApi),
  ...["ID/variables/x", "ID/queries/Q/iterations", "ID/queries/Q/iterations/1/messages", "ID/queries/Q/events"].map(
    inApi,
  ),
  ...["ID/graph", "ID/export", "ID/variables/Q", "ID/variables/x/diff", "ID/queries/Q/iterations/Q/messages"].map(
    inApi,
  ),
];

function inApi(path: string): string {
  return `/api/v1/conversations/${path}`;
}

/** Values that break what is not careful with them. */
const ODD: readonly string[] = [
  ...["0", "-1", "1e999", "%00", "%ff", "..", "%2e%2e%2f", "null", "undefined", "NaN", "__proto__", "constructor"],
  ...["'; drop table log; --", "%", "a".repeat(2_000), "\ud83d\ude00", "<script>", "%0d%0aSet-Cookie:x", "00000000"],
  ...["01234567-89ab-7def-8123-456789abcdef", "$query", "*", "?", "#"],
];

const BODIES: readonly string[] = [
  ...["", "{", "null", "[]", "0", '"x"', "{}", '{"__proto__":{"a":1}}', '{"request":null}', '{"request":""}'],
  ...['{"request":"\\u0000"}', '{"request":"\\ud800","context":"\\ud800"}', '{"title":7}', '{"title":"\\u0000"}'],
  ...['{"request":"x","images":["data:image/png;base64,AAAA"]}', '{"request":"x","images":["http://"]}'],
  ...['{"request":"x","responseSchema":{"$ref":"#"}}', '{"request":"x","responseSchema":{"pattern":"("}}'],
  ...['{"request":"x","responseSchema":7}', '{"request":"x","maxIterations":1e308}', '{"queryId":"x","iteration":-1}'],
  ...['{"queryId":"","iteration":1}', '{"model":"vis"}', '{"model":"vis","messages":[]}', "[".repeat(100_000)],
  ...['{"model":"vis","messages":[{"role":"user"}]}', '{"model":"vis","messages":[{"role":"user","content":[]}]}'],
  ...['{"model":"x","messages":[{"role":"user","content":"x"}]}', '{"model":"vis","messages":"x"}'],
  ...[
    '{"model":"vis","messages":[{"role":"assistant","content":"x"}]}',
    `{"request":${"[".repeat(500)}${"]".repeat(500)}}`,
  ],
  ...[
    ...[
      '{"input":""}',
      '{"input":[]}',
      '{"input":7}',
      '{"input":[{"type":"reasoning"}]}',
      '{"input":[{"role":"user"}]}',
    ],
    ...['{"input":"x","previous_response_id":"resp_x"}', '{"input":"x","conversation":{"id":"../x"}}'],
    ...[
      '{"input":"x","text":{"format":{"type":"json_schema","schema":{"type":"nonsense"}}}}',
      '{"input":"x","tools":[1]}',
    ],
    ...['{"title":"\\ud800"}', `{"title":"${"a".repeat(5_000)}"}`, '{"request":"x","whenBusy":"no"}', "[[[[", '{"a":'],
    '{"model":"vis","n":2,"messages":[{"role":"user","content":"x"}]}',
    '{"request":"x","context":{"a":1e400}}',
    "\u0000",
  ],
];

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { "content-type": "application/json" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "multipart/form-data" },
  { "content-type": "application/json", "content-encoding": "br" },
  { "content-type": "application/json", "last-event-id": "x\u00ff" },
  { "content-type": "application/json", "idempotency-key": " " },
  { "content-type": "application/json", "accept": "text/event-stream", "last-event-id": "-1" },
  { "content-type": "application/json", "x-vis-conversation": "../x" },
  { "content-type": "application/json", "if-match": '"x"' },
  { "content-type": "application/json", "if-match": "W/*, ,", "if-none-match": "*" },
  { "content-type": "application/json", "idempotency-key": "one" },
  { "content-type": "application/json", "range": "bytes=0-", "expect": "x", "x-forwarded-for": "::::,%00" },
  { "content-type": "application/json", "accept": "text/event-stream", "last-event-id": "r99999999999" },
  { "authorization": "Bearer" },
];

const requests = fc.record({
  method: fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "HEAD", "POST", "POST"),
  path: fc.constantFrom(...PATHS),
  id: fc.constantFrom("REAL", "REAL", ...ODD),
  query: fc.constantFrom(
    "",
    "?limit=0",
    "?limit=x",
    "?cursor=-1",
    "?cursor=999999",
    "?limit=1&limit=2",
    "?%ff=%",
    "?a[b]=c",
    "?q=%22%00*%22%20OR&kind=x",
    "?q=NEAR(a%20b)&limit=200&since=9e99",
    "?format=exe&from=1&to=-1",
    "?from=1e308&to=1&newest=0&after=-1&before=x",
    "?cursor=WzEsMiwzXQ",
    `?q=${"a".repeat(999)}&conversation=../..`,
  ),
  headers: fc.constantFrom(...HEADERS),
  body: fc.constantFrom(...BODIES),
});

Deno.test("createApp() answers 1000 bad requests without a fault of its own, each in words", async () => {
  // The few that are good enough to run get an answer.
  const otherwise = JSON.stringify({ thinking: "", code: [], final: { answer: "An answer", confidence: "high" } });
  await using rig = await startRig([], { engine: { scripted: { otherwise } } });
  const id = await rig.conversation();
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, id: odd, query, headers, body }) => {
      const place = path.replace("ID", odd === "REAL" ? id : odd).replace("Q", odd === "REAL" ? id : odd) + query;
      const hasBody = method !== "GET" && method !== "HEAD";
      const response = await fetch(new URL(place, rig.url), {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...headers },
        ...(hasBody ? { body } : {}),
      });
      const text = await response.text();
      sent++;
      assert.ok(response.status < 500, `${method} ${place.slice(0, 100)} ${body.slice(0, 100)}: ${text}`);
      if (response.status < 400 || method === "HEAD") return;
      const told = JSON.parse(text);
      if (place.startsWith("/v1/")) assert.equal(typeof told.error.message, "string");
      else assert.deepEqual([told.status, typeof told.detail], [response.status, "string"]);
      assert.doesNotMatch(text, /\.ts:\d|SQLITE|at file:/);
    }),
    { numRuns: 1_000, seed: 8 },
  );
  assert.ok(sent >= 1_000);
  assert.deepEqual(rig.logged.filter(({ event }) => event === "request_defect"), []);
});
