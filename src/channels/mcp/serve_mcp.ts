import { Readable, Writable } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Log } from "../../logging/log.ts";
import type { Peer } from "../channel.ts";
import type { McpParts } from "./_tool_parts.ts";
import { mcpServer } from "./mcp_server.ts";

/** Speaks the Model Context Protocol on a pair of streams, until the client closes its end. */
export function serveMcp(
  parts: McpParts & { readonly version: string; readonly log: Log },
  { readable, writable }: {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  },
): Peer {
  const input = Readable.fromWeb(readable);
  const transport = new StdioServerTransport(input, Writable.fromWeb(writable));
  const ended = Promise.withResolvers<void>();
  input.once("close", ended.resolve);
  const server = serveStdio(() => mcpServer(parts), {
    transport,
    onerror: ({ message }) => parts.log.warn("mcp_error", { error: message }),
  });
  return {
    ended: ended.promise,
    close: async () => {
      await server.close();
      ended.resolve();
    },
  };
}
