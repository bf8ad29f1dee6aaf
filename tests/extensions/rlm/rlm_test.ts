import assert from "node:assert/strict";
import { runAll } from "../../../extensions/rlm/ask.ts";
import { mapChunks, reduceChunks } from "../../../extensions/rlm/chunks.ts";
import type { ChildOptions, EnvironmentView } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import rlm from "../../../extensions/rlm/mod.ts";

const VIEW: EnvironmentView = { envId: "e", conversationId: "c", branchId: "b", depth: 0, workspace: "/w" };
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

function asking(answer: (prompt: string) => string, asked: string[] = []): EnvironmentView {
  return {
    ...VIEW,
    ask: (prompt) => {
      asked.push(prompt);
      try {
        return Promise.resolve(answer(prompt));
      } catch (error) {
        return Promise.reject(error);
      }
    },
  };
}

Deno.test("mapChunks() asks one instruction of every piece, in order, failures as values", async () => {
  const env = asking((prompt) => {
    const piece = prompt.slice("Count:\n\n".length);
    if (piece.includes("bad")) throw new Error("refused");
    return String(piece.length);
  });
  assert.deepEqual(await mapChunks(env, ["one", "bad", "three"], { instruction: "Count:" }), [
    "3",
    { error: "refused" },
    "5",
  ]);
  const counts = await mapChunks(env, "x".repeat(250), { instruction: "Count:", size: 100 });
  assert.deepEqual(counts, ["100", "100", "50"]);
});

Deno.test("reduceChunks() merges in rounds until one is left, also of texts larger than a prompt", async () => {
  const asked: string[] = [];
  const env = asking((prompt) => String(prompt.match(/\d+/g)!.reduce((sum, n) => sum + Number(n), 0)), asked);
  const texts = Array.from({ length: 100 }, (_, at) => String(at + 1));
  assert.equal(await reduceChunks(env, texts, { instruction: "Add:", size: 100 }), "5050");
  assert.ok(asked.length > 5);
  const large = ["a".repeat(500), "b".repeat(500), "c".repeat(500)];
  const merged = await reduceChunks(asking((prompt) => prompt.slice(-1)), large, { instruction: "Last:", size: 100 });
  assert.equal(merged, "c");
});

Deno.test("reduceChunks() asks the instruction of one text as well", async () => {
  assert.equal(
    await reduceChunks(asking((prompt) => prompt), ["only"], { instruction: "Shorten:" }),
    "Shorten:\n\nonly",
  );
});

Deno.test("reduceChunks() refuses failures, which mapChunks() may have given", async () => {
  const mixed = ["a", { error: "rate limit" }];
  await assert.rejects(
    reduceChunks(asking(String), mixed, { instruction: "Merge:" }),
    /^Error: Cannot merge the texts: 1 of 2 texts failed \(rate limit\); ask for these texts again/,
  );
});

Deno.test("runAll() takes strings and records, whose own options win", async () => {
  const seen: [string, ChildOptions | undefined][] = [];
  const env: EnvironmentView = {
    ...VIEW,
    runChild: (task, options) => {
      seen.push([task, options]);
      const status = task === "b" ? "error" : "done";
      return Promise.resolve({ status, reason: status === "done" ? "answered" : "limit_cost", answer: `of ${task}` });
    },
  };
  const options = { maxIterations: 2, vars: ["x"] };
  const answers = await runAll(env, ["a", { task: "b", vars: ["y"] }], options);
  assert.deepEqual(answers, ["of a", {
    error: 'Cannot finish the sub-query: it ended without an answer (limit_cost); its last text is "of b"',
  }]);
  assert.deepEqual(seen, [["a", options], ["b", { maxIterations: 2, vars: ["y"] }]]);
});

Deno.test("rlm.* outside a query are errors, and wrong arguments are answered with the signature", async () => {
  const registry = new ExtensionRegistry({ log: LOG });
  registry.register(rlm);
  const active = await registry.activate(VIEW);
  const call = (name: string, args: unknown[]) => active.call(name, args, { env: VIEW, signal: AbortSignal.any([]) });
  await assert.rejects(call("rlm.ask", ["hello"]), /Cannot ask a model: no request is running/);
  await assert.rejects(call("rlm.run", ["x", { vars: "part" }]), /rlm\.run\(task/);
  await assert.rejects(call("rlm.askAll", ["not a list"]), /rlm\.askAll\(prompts/);
});

Deno.test("the prompt of rlm is at most 560 bytes and names every function", async () => {
  const registry = new ExtensionRegistry({ log: LOG });
  registry.register(rlm);
  const { blocks, functions } = await registry.activate(VIEW);
  const block = blocks.join("\n");
  assert.ok(new TextEncoder().encode(block).length <= 560, block);
  for (const name of functions) assert.ok(block.includes(name.replace("rlm.", "")), name);
});
