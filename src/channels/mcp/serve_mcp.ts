import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { Readable, Writable } from "node:stream";
import type { Log } from "../../logging/log.ts";
import type { Peer } from "../channel.ts";
import { joinLines } from "./_join_lines.ts";
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
  const ended = Promise.withResolvers<void>();
  const input = Readable.fromWeb(readable.pipeThrough(joinLines()));
  // Without a limit of its own: at a longer message it would stop reading, and answer nothing any more.
  const transport = new StdioServerTransport(input, Writable.fromWeb(writable), { maxBufferSize: Infinity });
  const close = transport.close.bind(transport);
  // It also closes by itself, when its output breaks, and no longer learns then that its input has ended.
  transport.close = async () => {
    await close();
    ended.resolve();
  };
  const server = serveStdio(() => mcpServer(parts), {
    transport,
    onerror: ({ message }) => parts.log.warn("mcp_error", { error: message }),
  });
  return {
    ended: ended.promise,
    close: () => server.close(),
  };
}
