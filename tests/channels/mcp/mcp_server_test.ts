import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/client";
import { ConfigError } from "../../../src/domain/errors.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { withClient } from "./_connected.ts";

const textOf = (result: { readonly content?: unknown }) => (result.content as { readonly text: string }[])[0]?.text;

const ASK = { name: "ask", arguments: { request: "x" } };

Deno.test("mcpServer() describes itself and the arguments and results of its tools", () =>
  withClient([], async (client) => {
    assert.deepEqual(client.getServerVersion(), { name: "vis", title: "Vis", version: "1.2.3" });
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name, annotations }) => `${name} ${annotations?.readOnlyHint}`), [
      "ask false",
      "continue false",
      "search true",
      "conversations true",
      "variables true",
    ]);
    for (const { name, inputSchema, outputSchema, description } of tools) {
      assert.equal(inputSchema.additionalProperties, false, name);
      assert.equal(outputSchema?.type, "object", name);
      assert.ok((description ?? "").length > 20, name);
    }
  }));

Deno.test("ask begins a conversation, continue continues it, search and variables find its work", () =>
  withClient(
    [replyJson("const kept = { a: 40 + 2 }"), final("It is {{kept.a}}"), final("still {{kept.a}}")],
    async (client, engine) => {
      const asked = await client.callTool({ name: "ask", arguments: { request: "Work out the kept number" } });
      assert.deepEqual([asked.isError, textOf(asked)], [false, "It is 42"]);
      const { conversation, iterations, status } = asked.structuredContent as Record<string, unknown>;
      assert.deepEqual([iterations, status], [2, "done"]);
      assert.notEqual(conversation, engine.branch.conversationId);
      const next = await client.callTool({ name: "continue", arguments: { request: "And now?", conversation } });
      assert.equal(textOf(next), "still 42");
      const { variables } = (await client.callTool({ name: "variables", arguments: { conversation, name: "kept" } }))
        .structuredContent as { readonly variables: Record<string, unknown>[] };
      assert.deepEqual(variables.map(({ name, version, value, code }) => [name, version, value, code]), [
        ["kept", 1, '{\n  "a": 42\n}', "const kept = { a: 40 + 2 }"],
      ]);
      const all = (await client.callTool({ name: "variables", arguments: {} }))
        .structuredContent as typeof variables[0];
      assert.equal(all?.["conversation"], conversation, "the newest conversation of the workspace");
      const found = await client.callTool({ name: "search", arguments: { text: "kept number", kind: "request" } });
      const { hits } = found.structuredContent as { readonly hits: Record<string, unknown>[] };
      assert.deepEqual(hits.map(({ kind, conversation: id, snippet }) => [kind, id, snippet]), [
        ["request", conversation, "Work out the [kept] [number]"],
      ]);
      const listed = await client.callTool({ name: "conversations", arguments: { limit: 1 } });
      const { conversations } = listed.structuredContent as { readonly conversations: Record<string, unknown>[] };
      assert.deepEqual(conversations.map(({ conversation: id, queries, title }) => [id, queries, title]), [
        [conversation, 2, "Work out the kept number"],
      ]);
    },
  ));

Deno.test("ask gives the answer as data where a schema asks for it", () => {
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  return withClient([replyJson([], { final: '{"n":7}' })], async (client) => {
    const asked = await client.callTool({ name: "ask", arguments: { request: "x", schema } });
    assert.deepEqual((asked.structuredContent as Record<string, unknown>)["value"], { n: 7 });
  });
});

Deno.test("continue reports each step to a client that requested progress", () =>
  withClient([replyJson("1 + 1"), final("2")], async (client, { branch }) => {
    const heard: unknown[] = [];
    await client.callTool({ name: "continue", arguments: { request: "x", conversation: branch.conversationId } }, {
      onprogress: ({ progress, message }) => void heard.push([progress, message]),
    });
    assert.deepEqual(heard, [
      [1, "Step 1: running code"],
      [2, "Step 1: ran code"],
      [3, "Step 1: executed"],
      [4, "Step 2: final"],
    ]);
  }));

Deno.test("conversations are resources, with all that was asked, run and answered", () =>
  withClient([replyJson("20 + 22"), final("It is 42")], async (client) => {
    assert.deepEqual((await client.listResources()).resources, []);
    const { structuredContent } = await client.callTool({ name: "ask", arguments: { request: "Add them" } });
    const { conversation } = structuredContent as { readonly conversation: string };
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri, name, mimeType }) => [uri, name, mimeType]), [
      [`vis://conversations/${conversation}`, "Add them", "text/markdown"],
    ]);
    const { contents } = await client.readResource({ uri: resources[0]?.uri ?? "" });
    const [found] = contents;
    assert.match(found && "text" in found ? found.text : "", /Add them[^]*20 \+ 22[^]*It is 42/);
    await assert.rejects(client.readResource({ uri: "vis://conversations/nothing" }));
  }));

Deno.test("a fault that keeps Vis from starting is the result of a call, and the next call tries again", () => {
  const tries: string[] = [];
  const open = () => {
    tries.push("x");
    return Promise.reject(new ConfigError("Cannot find a model: no provider is set up; run vis auth login"));
  };
  return withClient([], async (client) => {
    for (const name of ["ask", "conversations"]) {
      const refused = await client.callTool({ name, arguments: name === "ask" ? { request: "x" } : {} });
      assert.deepEqual([refused.isError, textOf(refused)], [
        true,
        "Cannot find a model: no provider is set up; run vis auth login",
      ]);
    }
    assert.equal(tries.length, 2);
  }, open);
});

const LEAVING: Readonly<Record<string, (client: Client, begun: () => Promise<void>) => Promise<unknown>>> = {
  "that the client cancels": async (client, begun) => {
    const controller = new AbortController();
    void begun().then(() => controller.abort());
    await client.callTool(ASK, { signal: controller.signal });
  },
  "that takes the client too long": (client) => client.callTool(ASK, { timeout: 3_000 }),
  "whose connection is closed": async (client, begun) => {
    void begun().then(() => client.close());
    await client.callTool(ASK);
  },
};

for (const [how, leave] of Object.entries(LEAVING)) {
  Deno.test(`a call ${how} ends its query`, () =>
    withClient([replyJson("await new Promise(() => {})")], async (client, engine) => {
      await assert.rejects(leave(client, () => until(() => engine.provider.requests.length > 0)));
      let reason: string | undefined;
      while (reason !== "cancelled") {
        const [newest] = await engine.conversations.list({ limit: 1 });
        [reason] = (newest ? await engine.conversations.queries(newest) : []).map((query) => query.reason ?? "running");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }));
}

Deno.test("an impossible request is an error of the call that names the fault", () =>
  withClient([], async (client, { branch }) => {
    for (
      const [name, given, expected] of [
        ["ask", { request: "" }, /request/],
        ["ask", { request: "x", more: 1 }, /more/],
        ["ask", { request: "x", schema: { type: "nothing" } }, /schema/i],
        ["continue", { request: "x", conversation: "00000000" }, /Cannot find conversation 00000000/],
        ["variables", {}, /it has none yet; begin one with the tool ask/],
        ["variables", { name: "gone", conversation: branch.conversationId }, /gone/],
        ["search", { text: "x", limit: 1000 }, /limit/],
      ] as const
    ) {
      const answer = await client.callTool({ name, arguments: given });
      assert.equal(answer.isError, true, name);
      assert.match(textOf(answer) ?? "", expected);
    }
  }));

Deno.test("continue with more resumes a request that stopped at its step limit", () =>
  withClient([replyJson("const n = 1"), final("half"), final("whole {{n}}")], async (client, engine) => {
    const stopped = await client.callTool({ name: "ask", arguments: { request: "x", maxIterations: 1 } });
    const { conversation } = stopped.structuredContent as Record<string, unknown>;
    const done = await client.callTool({ name: "continue", arguments: { conversation, more: true } });
    assert.deepEqual([done.isError, textOf(done)], [false, "whole 1"]);
    assert.match(engine.context(2), /^\[iter 1\/10\]/);
    for (
      const [given, why] of [
        [{ conversation }, /neither request nor more is given/],
        [{ conversation, more: true, request: "x" }, /request and more exclude each other/],
      ] as const
    ) {
      const refused = await client.callTool({ name: "continue", arguments: given });
      assert.match(textOf(refused) ?? "", why);
    }
  }));

Deno.test("a query that ends without an answer is an error of the call, with its reason as data", () =>
  withClient([replyJson("1 + 1"), replyJson("2 + 2")], async (client) => {
    const failed = await client.callTool({ name: "ask", arguments: { request: "x", maxIterations: 1 } });
    const { status, reason } = failed.structuredContent as Record<string, unknown>;
    assert.deepEqual([failed.isError, status, reason], [true, "error", "max_iterations"]);
  }));
