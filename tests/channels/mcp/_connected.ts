import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { mcpServer } from "../../../src/channels/mcp/serve_mcp.ts";
import { type Engine, startEngine } from "../../helpers/engine.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";

const WORKSPACE = "/nowhere";

export async function withClient(
  replies: readonly ScriptedReply[],
  work: (client: Client, engine: Engine) => Promise<void>,
  open?: Parameters<typeof mcpServer>[0]["open"],
): Promise<void> {
  await using engine = await startEngine(replies);
  const { conversations } = engine;
  const server = mcpServer({
    open: open ?? (() => Promise.resolve({ conversations, workspace: WORKSPACE })),
    version: "1.2.3",
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1.0.0" });
  try {
    await Promise.all([server.connect(far), client.connect(near)]);
    await work(client, engine);
  } finally {
    await client.close();
    await server.close();
  }
}
