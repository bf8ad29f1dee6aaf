import assert from "node:assert/strict";
import { callerLabel, Quotas } from "../../../src/channels/http/tokens.ts";
import type { QueryResult } from "../../../src/domain/query/query_schemas.ts";
import { NO_QUOTA } from "./_rig.ts";

const DAY_MS = 24 * 3_600_000;
const cost = (costUsd: number): QueryResult => ({
  ...{ status: "done", reason: "answered", answer: "", answerType: "text", confidence: "high", queryId: "q" },
  ...{ conversationId: "c", iterations: 1, usage: { input: 0, output: 0, cached: 0, reasoning: 0, calls: 1 } },
  ...{ costUsd, ms: 1, notes: [] },
});

Deno.test("Quotas a day begins at midnight UTC, and a query that runs over it still counts as running", () => {
  const clock = { now: 10 * DAY_MS + 1 };
  const quotas = new Quotas(() => clock.now);
  const a = { name: "a", quota: { queriesPerDay: 2, costUsdPerDay: 1, concurrent: 1 } };
  const first = quotas.begin(a);
  clock.now = 11 * DAY_MS - 1;
  assert.throws(() => quotas.begin(a), /this token already runs 1/);
  clock.now = 11 * DAY_MS;
  assert.deepEqual(quotas.used(a), { queries: 0, costUsd: 0, running: 1 });
  assert.throws(() => quotas.begin(a), { status: 429 });
  first.end(cost(0.75));
  assert.deepEqual(quotas.used(a), { queries: 0, costUsd: 0.75, running: 0 }, "money counts on the day of the end");
  quotas.begin(a).end(cost(0.5));
  assert.throws(
    () => quotas.begin(a),
    /Problem: Cannot start the request: this token has spent its limit of \$1 for today; try again after 00:00 UTC/,
  );
});

Deno.test("Quotas take the database's count, of both APIs together, if it is higher than their own", () => {
  const a = { name: "a", quota: NO_QUOTA };
  const of = (label: string, queries: number, costUsd: number) => ({ label, queries, costUsd });
  const quotas = new Quotas(() => 5, [of("http:a", 2, 0.5), of("openai:a", 1, 0.25)]);
  assert.deepEqual(quotas.used(a), { queries: 3, costUsd: 0.75, running: 0 });
  quotas.begin(a).end(cost(1));
  quotas.learn([of("http:a", 3, 0.5), of("openai:a", 1, 0.25)]);
  assert.deepEqual(quotas.used(a), { queries: 4, costUsd: 1.75, running: 0 }, "the last one is not stored yet");
  quotas.learn([of("http:a", 9, 2)]);
  assert.deepEqual(quotas.used(a), { queries: 9, costUsd: 2, running: 0 });
});

Deno.test("Quotas an end is reported once, and a query that never began is not counted, on any day", () => {
  const clock = { now: 5 };
  const quotas = new Quotas(() => clock.now);
  const a = { name: "a", quota: { ...NO_QUOTA, queriesPerDay: 1 } };
  const lease = quotas.begin(a);
  lease.undo();
  lease.undo();
  lease.end(cost(9));
  assert.deepEqual(quotas.used(a), { queries: 0, costUsd: 0, running: 0 });
  const late = quotas.begin(a);
  clock.now += DAY_MS;
  late.undo();
  assert.deepEqual(quotas.used(a), { queries: 0, costUsd: 0, running: 0 });
  assert.deepEqual(quotas.used({ name: "b" }), { queries: 0, costUsd: 0, running: 0 });
});

Deno.test("Quotas learn from the labels that callerLabel() gives, and no other", () => {
  const labels = [
    callerLabel("http", { name: "a:b" }),
    callerLabel("openai", { name: "c" }),
    "nightly",
    "http:",
    "http",
  ];
  const quotas = new Quotas(() => 5, labels.map((label) => ({ label, queries: 1, costUsd: 2 })));
  const counted = ["a:b", "c", "nightly", "http:", "http", "", "undefined"].map((name) =>
    quotas.used({ name }).queries
  );
  assert.deepEqual(counted, [1, 1, 0, 0, 0, 0, 0]);
});
