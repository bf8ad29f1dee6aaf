import assert from "node:assert/strict";
import { methods } from "@agentclientprotocol/sdk";
import { serveAcp } from "../../../src/channels/acp/serve_acp.ts";
import type { Session } from "../../../src/channels/channel.ts";
import { startEngine } from "../../helpers/engine.ts";
import { final, type ScriptedReply } from "../../helpers/scripted_provider.ts";

const of = methods.agent;

interface Answer {
  readonly id?: number | null;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
}

async function withClient(
  replies: readonly ScriptedReply[],
  work: (client: {
    send(id: number, method: string, params: object): Promise<void>;
    sendLine(message: unknown): Promise<void>;
    read(id: number | null): Promise<Answer>;
    closeInput(): Promise<void>;
    closeOutput(): Promise<void>;
    readonly ended: Promise<unknown>;
  }) => Promise<void>,
): Promise<void> {
  await using engine = await startEngine(replies, { workspace: "/nowhere" });
  const open = (): Promise<Session> =>
    Promise.resolve({
      conversations: engine.conversations,
      workspace: "/nowhere",
      provider: "script",
      model: "script",
      database: ":memory:",
      close: () => Promise.resolve(),
    });
  const input = new TransformStream<Uint8Array, Uint8Array>(), output = new TransformStream<Uint8Array, Uint8Array>();
  const peer = serveAcp({ open, prompts: () => Promise.resolve([]), version: "1" }, {
    readable: input.readable,
    writable: output.writable,
  });
  const writer = input.writable.getWriter();
  const lines = linesOf(output.readable);
  const sendLine = (message: unknown) => writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`));
  await work({
    sendLine,
    send: (id, method, params) => sendLine({ jsonrpc: "2.0", id, method, params }),
    read: async (id) => {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`The output ended without an answer to ${id}`);
        if (value.id === id && value.method === undefined) return value;
      }
    },
    closeInput: () => writer.close(),
    closeOutput: async () => void await lines.return(undefined),
    ended: peer.ended,
  });
  await peer.ended;
  await peer.close();
}

async function* linesOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Answer, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const part of bytes) {
    const lines = `${rest}${decoder.decode(part, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

Deno.test("the end of the input cancels a running prompt, its response comes, then the connection ends", () => {
  const called = Promise.withResolvers<void>();
  const reply: ScriptedReply = () => {
    called.resolve();
    return { text: "", after: new Promise<void>(() => {}) };
  };
  return withClient([reply], async ({ send, read, closeInput }) => {
    await send(1, of.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await send(2, of.session.new, { cwd: "/nowhere", mcpServers: [] });
    const sessionId = (await read(2)).result?.["sessionId"];
    await send(3, of.session.prompt, { sessionId, prompt: [{ type: "text", text: "Seven?" }] });
    await called.promise;
    await closeInput();
    assert.deepEqual((await read(3)).result, { stopReason: "cancelled" });
  });
});

Deno.test("requests are answered although the input ends behind them, then the connection ends", () =>
  withClient([], async ({ send, read, closeInput }) => {
    await send(1, of.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await send(2, of.session.new, { cwd: "/nowhere", mcpServers: [] });
    const sessionId = (await read(2)).result?.["sessionId"];
    await send(3, of.session.prompt, { sessionId, prompt: [{ type: "text", text: "Seven?" }] });
    await closeInput();
    assert.deepEqual((await read(3)).result, { stopReason: "cancelled" });
  }));

Deno.test("a connection without an open request ends with its input", () =>
  withClient([], async ({ send, read, closeInput }) => {
    await send(1, of.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await read(1);
    await closeInput();
  }));

for (
  const broken of [{ jsonrpc: "1.0", id: 2 }, { id: 2 }, { jsonrpc: "2.0", id: { of: 2 } }, {
    jsonrpc: "2.0",
    id: true,
  }]
) {
  Deno.test(`an invalid request (${JSON.stringify(broken)}) is refused, and the input can still end`, () =>
    withClient([], async ({ send, sendLine, read, closeInput }) => {
      await send(1, of.initialize, { protocolVersion: 1, clientCapabilities: {} });
      await read(1);
      await sendLine({ ...broken, method: of.session.new, params: {} });
      assert.equal((await read(null)).id, null);
      await closeInput();
    }));
}

Deno.test("the connection does not wait for a client that closes both ends", () =>
  withClient([final("It is 7")], async ({ send, read, closeInput, closeOutput }) => {
    await send(1, of.initialize, { protocolVersion: 1, clientCapabilities: {} });
    await send(2, of.session.new, { cwd: "/nowhere", mcpServers: [] });
    const sessionId = (await read(2)).result?.["sessionId"];
    await send(3, of.session.prompt, { sessionId, prompt: [{ type: "text", text: "Seven?" }] });
    await closeInput();
    await closeOutput();
  }));
