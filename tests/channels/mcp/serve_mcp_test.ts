import assert from "node:assert/strict";
import { serveMcp } from "../../../src/channels/mcp/serve_mcp.ts";
import { startEngine } from "../../helpers/engine.ts";

const BEYOND = 12 * 1024 * 1024; // The protocol's library would accept up to 10 MiB.
const PIECE = 64 * 1024;

/** Runs a client that writes lines in pieces, as a pipe delivers them, and reads the answers. */
async function withPipes(
  work: (client: {
    send(message: object): Promise<void>;
    read(): Promise<Record<string, unknown>>;
    breakOutput(): void;
    closeInput(): Promise<void>;
    readonly ended: Promise<unknown>;
    readonly warned: unknown[];
  }) => Promise<void>,
): Promise<void> {
  await using engine = await startEngine([]);
  const input = new TransformStream<Uint8Array, Uint8Array>(), output = new TransformStream<Uint8Array, Uint8Array>();
  const answers = output.writable.getWriter();
  let broken = false;
  const writable = new WritableStream<Uint8Array>({
    write: async (bytes) => {
      if (broken) throw new Error("Broken pipe");
      await answers.write(bytes);
    },
  });
  const warned: unknown[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: (_: string, data: unknown) => void warned.push(data),
    error: () => {},
  };
  const open = () => Promise.resolve({ conversations: engine.conversations, workspace: "/nowhere" });
  const peer = serveMcp({ open, version: "1", log }, { readable: input.readable, writable });
  const writer = input.writable.getWriter();
  const reader = output.readable.getReader();
  await work({
    ended: peer.ended,
    warned,
    send: async (message) => {
      const bytes = new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      for (let at = 0; at < bytes.length; at += PIECE) await writer.write(bytes.slice(at, at + PIECE));
    },
    read: async () => JSON.parse(new TextDecoder().decode((await reader.read()).value)),
    breakOutput: () => void (broken = true),
    closeInput: () => writer.close(),
  });
  await peer.ended;
  await peer.close();
}

const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

Deno.test("serveMcp() answers a message of any size, and later ones", () =>
  withPipes(async ({ send, read, closeInput, warned }) => {
    await send(INITIALIZE);
    assert.equal((await read())["id"], 0);
    await send({ id: 1, method: "unknown", params: { text: "x".repeat(BEYOND) } });
    assert.deepEqual((await read())["error"], { code: -32601, message: "Method not found" });
    await send({ id: 2, method: "ping" });
    assert.deepEqual(await read(), { jsonrpc: "2.0", id: 2, result: {} });
    assert.deepEqual(warned, []);
    await closeInput();
  }));

Deno.test("serveMcp() ends when its output breaks, although its input stays open", () =>
  withPipes(async ({ send, read, breakOutput, ended }) => {
    await send(INITIALIZE);
    await read();
    breakOutput();
    await send({ id: 1, method: "ping" });
    await ended;
  }));
