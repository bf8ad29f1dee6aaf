import assert from "node:assert/strict";
import { begun, block, image, iterate, iterationEnd, newIteration, USAGE, utf8 } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const ERROR = { name: "TypeError", message: "no", line: 2, column: 5, excerpt: "x\n^", stack: "at 2:5" };

export const storeIterationCases: readonly StoreCase[] = [
  {
    name: "beginIteration() stores the reply and the blocks before they run",
    async run(store, clock) {
      const { queryId } = await begun(store);
      const id = await store.beginIteration(
        newIteration(queryId, 0, { blocks: ["a()", "b()"], metadata: { walls: 4 } }),
      );
      assert.deepEqual(await store.iterations(queryId), [{
        iterationId: id,
        queryId,
        position: 0,
        status: "running",
        thinking: "thought 0",
        traces: [],
        response: `{"code":["x"]}`,
        error: null,
        blocks: [],
        steered: [],
        metadata: { walls: 4, pendingBlocks: ["a()", "b()"] },
        createdAt: clock.now,
      }]);
    },
  },
  {
    name: "sentMessages() returns the messages of an iteration, in any size, and null without any",
    async run(store) {
      const { queryId } = await begun(store);
      const long = "p".repeat(100_000);
      const sent = [{ role: "user", content: "count" }, { role: "user", content: long }];
      await store.beginIteration(newIteration(queryId, 0, { systemPrompt: long, userPrompt: JSON.stringify(sent) }));
      await store.beginIteration(
        newIteration(queryId, 1, { systemPrompt: "s", userPrompt: JSON.stringify([sent[0]]) }),
      );
      assert.deepEqual(await store.sentMessages(queryId, 0), [
        { role: "system", text: long },
        { role: "user", text: "count" },
        { role: "user", text: long },
      ]);
      assert.deepEqual(await store.sentMessages(queryId, 1), [{ role: "user", text: "count" }], "all in one message");
      assert.equal(await store.sentMessages(queryId, 2), null);
      assert.equal(await store.sentMessages("no-such-query", 0), null);
    },
  },
  {
    name: "endIteration() stores an iteration that is read back exactly",
    async run(store) {
      const { queryId } = await begun(store);
      const long = "o".repeat(50_000);
      const blocks = [
        block("const a = 1", { value: utf8("v"), reads: ["q"], saved: [image("a"), image("b", { root: "k" })] }),
        block("[1]", { literal: true, value: crypto.getRandomValues(new Uint8Array(30_000)) }),
        block("boom()", { result: { ok: false, outcome: "error", error: ERROR, stdout: long, stderr: "e", ms: 12 } }),
        block("slow()", {
          result: {
            ok: false,
            outcome: "timeout",
            timedOut: true,
            repaired: "added a brace",
            pending: ["p"],
            lost: ["l"],
            touched: ["a"],
            dropped: 17,
            preview: long,
            type: "Array",
            size: 3,
            ms: 1.5,
            error: { ...ERROR, line: null, column: null },
            calls: [{ name: "fs.readFile", ms: 2, ok: true }],
          },
          saved: [
            image("f", { kind: "function", bytes: utf8(""), source: "function f() { return 1 }", requires: ["a"] }),
          ],
        }),
        block("a.push(1)", { reads: ["a"], result: { touched: ["a"] }, saved: [image("a", { bytes: utf8(long) })] }),
        block("  \n", { result: { ok: false, outcome: "refused" } }),
      ];
      const id = await store.beginIteration(newIteration(queryId, 0, { metadata: { walls: 4, budget: 1 } }));
      await store.endIteration(id, iterationEnd(blocks, { metadata: { outcome: "executed", budget: 2 }, error: "E" }));
      const [read] = await store.iterations(queryId);
      assert.deepEqual(read?.blocks, blocks);
      assert.deepEqual(read?.metadata, { walls: 4, budget: 2, outcome: "executed" });
      assert.deepEqual([read?.status, read?.error], ["done", "E"]);
    },
  },
  {
    name: "endIteration() adds late calls and their diffs to the blocks that made them, in this iteration and before",
    async run(store) {
      const { queryId } = await begun(store);
      const own = { name: "fs.readFile", ms: 1, ok: true };
      const late = (name: string) => ({ name, ms: 2, ok: false, output: "o".repeat(9_000) });
      await iterate(store, { queryId, position: 0, blocks: [block("1", { result: { calls: [own] } }), block("2")] });
      await iterate(store, {
        queryId,
        position: 1,
        blocks: [block("3")],
        late: [
          { iteration: 1, block: 0, call: late("web.get"), diffs: [] },
          { iteration: 1, block: 1, call: late("fs.edit"), diffs: ["--- a\n+++ b\n"] },
          { iteration: 2, block: 0, call: late("shell.run"), diffs: [] },
          { iteration: 9, block: 0, call: late("gone"), diffs: [] },
        ],
      });
      const [first, second] = await store.iterations(queryId);
      assert.deepEqual(first?.blocks.map(({ result }) => result.calls), [[own, late("web.get")], [late("fs.edit")]]);
      assert.deepEqual(first?.metadata.diffs, [{ block: 1, diff: "--- a\n+++ b\n" }]);
      assert.deepEqual(second?.blocks.map(({ result }) => result.calls), [[late("shell.run")]]);
    },
  },
  {
    name: "endIteration() keeps a value of up to 1 MiB, and null for a larger one",
    async run(store) {
      const { queryId } = await begun(store);
      const [fits, not] = [new Uint8Array(1024 * 1024).fill(7), new Uint8Array(1024 * 1024 + 1)];
      await iterate(store, { queryId, position: 0, blocks: [block("a", { value: fits }), block("b", { value: not })] });
      const [read] = await store.iterations(queryId);
      assert.deepEqual(read?.blocks.map(({ value }) => value), [fits, null]);
    },
  },
  {
    name: "endIteration() ends an iteration once and refuses an unknown one",
    async run(store) {
      const { queryId } = await begun(store);
      const id = await iterate(store, { queryId, position: 0, blocks: [block("1")] });
      await assert.rejects(store.endIteration(id, iterationEnd([block("2")])), /Cannot change step .*status done/);
      await assert.rejects(store.endIteration("x", iterationEnd([])), /Cannot change step x: it does not exist/);
      assert.equal((await store.iterations(queryId))[0]?.blocks.length, 1);
    },
  },
  {
    name: "endIteration() that fails leaves nothing of itself",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const id = await store.beginIteration(newIteration(queryId, 0, { blocks: ["x"] }));
      // JSON has no BigInt, so the last write of the transaction fails.
      const end = iterationEnd([block("const x = 1", { saved: [image("x")] })], { metadata: { bad: 1n } });
      await assert.rejects(store.endIteration(id, end), TypeError);
      assert.deepEqual(await store.variables(branchId), []);
      assert.deepEqual((await store.iterations(queryId)).map(({ status, blocks }) => [status, blocks]), [[
        "running",
        [],
      ]]);
      await store.endIteration(id, iterationEnd([block("const x = 1", { saved: [image("x")] })]));
      assert.equal((await store.variables(branchId)).length, 1);
    },
  },
  {
    name: "failIteration() is one row with the error",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const { response: _r, blocks: _b, ...asked } = newIteration(queryId, 0, { thinking: "" });
      const trace = {
        provider: "p",
        model: "m",
        ok: false,
        status: 429,
        error: "rate",
        usage: null,
        ms: 3,
        repairs: [],
      };
      await store.failIteration({ ...asked, traces: [trace], metadata: { a: 1 } }, {
        error: "All providers failed",
        system: [{ name: "$query", text: "how many?" }],
        totals: { iterations: 1, usage: USAGE, costUsd: null },
        metadata: { b: 2 },
      });
      const [read, more] = await store.iterations(queryId);
      assert.deepEqual([read?.status, read?.error, read?.response, read?.blocks, read?.metadata, more], [
        "error",
        "All providers failed",
        "",
        [],
        { a: 1, b: 2 },
        undefined,
      ]);
      assert.deepEqual((await store.variables(branchId)).map(({ name, scope }) => [name, scope]), [[
        "$query",
        "system",
      ]]);
      assert.equal((await store.query(queryId))?.iterations, 1);
    },
  },
  {
    name: "iterations() are in the order of their positions",
    async run(store) {
      const { queryId } = await begun(store);
      for (const position of [2, 0, 1]) await iterate(store, { queryId, position, blocks: [block(`${position}`)] });
      assert.deepEqual((await store.iterations(queryId)).map(({ blocks }) => blocks[0]?.code), ["0", "1", "2"]);
      await assert.rejects(store.beginIteration(newIteration(queryId, 1)), { name: "StoreError" });
    },
  },
];
