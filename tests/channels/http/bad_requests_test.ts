import assert from "node:assert/strict";
import fc from "fast-check";
import { startRig, TOKEN } from "./_rig.ts";
import { runs } from "../../helpers/long_part.ts";

const PLACES: readonly Place[] = [
  "/",
  "/assets/{id}",
  "/docs",
  "/docs/style.css",
  "/openapi.json",
  "/{id}",
  "/v1/{id}",
  "/api/{id}",
]
  .flatMap((path) => ["GET", "POST"].map((method) => ({ method, path })));

interface Place {
  readonly method: string;
  readonly path: string;
}

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

const requests = (places: readonly Place[]) =>
  fc.record({
    place: fc.constantFrom(...places),
    method: fc.constantFrom(
      null,
      null,
      null,
      null,
      null,
      null,
      "GET",
      "POST",
      "PATCH",
      "DELETE",
      "PUT",
      "OPTIONS",
      "HEAD",
    ),
    values: fc.array(fc.constantFrom("REAL", "REAL", ...ODD), { minLength: 3, maxLength: 3 }),
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

async function describedPlaces(url: string): Promise<readonly Place[]> {
  const { paths } = await (await fetch(new URL("/openapi.json", url))).json();
  return Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path }))
  );
}

Deno.test("createApp() answers many bad requests without a fault of its own, each in words", async () => {
  // The few valid requests get an answer.
  const otherwise = JSON.stringify({ thinking: "", code: [], final: { answer: "An answer", confidence: "high" } });
  await using rig = await startRig([], { engine: { scripted: { otherwise } } });
  const real = { id: "", query: "" };
  const renew = async (): Promise<void> => {
    real.id = await rig.conversation();
    const sent = await rig.post(`/api/v1/conversations/${real.id}/messages`, { request: "x" });
    real.query = (await sent.json()).queryId;
  };
  await renew();
  const statuses = new Map<number, number>();
  const places = [...await describedPlaces(rig.url), ...PLACES];
  await fc.assert(
    fc.asyncProperty(requests(places), async ({ place, method: other, values, query, headers, body }) => {
      const method = other ?? place.method;
      const left = [...values];
      const path = place.path.replace(/\{(\w+)\}/g, (_, name) => {
        const value = left.shift() ?? "";
        return value !== "REAL" ? value : name === "queryId" ? real.query : real.id;
      });
      const hasBody = method !== "GET" && method !== "HEAD";
      const url = new URL(path + query, rig.url);
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...headers },
        ...(hasBody ? { body } : {}),
      });
      const text = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const what = `${method} ${path.slice(0, 100)}${query.slice(0, 50)} ${JSON.stringify(headers)} ${
        body.slice(0, 100)
      }`;
      assert.ok(response.status < 500, `${what}: ${text}`);
      if (response.status === 204) await renew();
      if (response.status < 400 || method === "HEAD") return;
      const told = JSON.parse(text);
      if (url.pathname.startsWith("/v1/")) assert.equal(typeof told.error.message, "string");
      else assert.deepEqual([told.status, typeof told.detail], [response.status, "string"]);
      assert.doesNotMatch(text, /\.ts:\d|SQLITE|at file:/);
    }),
    { numRuns: runs(250, 1_000), seed: 8 },
  );
  const most = Math.max(...statuses.values());
  assert.ok(most < 600, `not mostly of one kind: ${JSON.stringify([...statuses])}`);
  assert.deepEqual(rig.logged.filter(({ event }) => event === "request_defect"), []);
});
