import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { Buffer } from "node:buffer";
import { Readable, Writable } from "node:stream";
import { UsageError } from "../../domain/errors.ts";
import type { Log } from "../../logging/log.ts";
import type { Peer } from "../channel.ts";
import { addAskTools, addReadTools, type McpParts } from "./tools.ts";

export function serveMcp(
  parts: McpParts & { readonly version: string; readonly log: Log },
  { readable, writable }: {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  },
): Peer {
  const ended = Promise.withResolvers<void>();
  const input = Readable.fromWeb(readable.pipeThrough(joinLines()));
  // With a limit, the transport would stop reading after a longer message, and later requests would get no responses.
  const transport = new StdioServerTransport(input, Writable.fromWeb(writable), { maxBufferSize: Infinity });
  const close = transport.close.bind(transport);
  // When the output breaks, the transport closes before its input has ended.
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

const INSTRUCTIONS = "Vis is an agent with its own sandbox and a memory of its own. Use `ask` for a task, and " +
  "`continue` for the next request. `search` and `variables` show earlier work without a model call.";

export function mcpServer({ version, ...parts }: McpParts & { readonly version: string }): McpServer {
  const server = new McpServer({ name: "vis", title: "Vis", version }, { instructions: INSTRUCTIONS });
  addAskTools(server, parts);
  addReadTools(server, parts);
  addConversationResources(server, parts);
  return server;
}

const LISTED = 50;
const MEDIA_TYPE = "text/markdown";
/** A resource is one message in the memory of Vis and of the client. */
const MOST_CHARS = 8_000_000;

const addressOf = (id: string): string => `vis://conversations/${id}`;

function addConversationResources(server: McpServer, parts: McpParts): void {
  const template = new ResourceTemplate(addressOf("{id}"), {
    list: async () => {
      const { conversations } = await parts.open();
      const listed = await conversations.list({ limit: LISTED });
      return {
        resources: listed.filter(({ queries }) => queries > 0).map(({ conversationId, title }) => {
          return { uri: addressOf(conversationId), name: title || conversationId, mimeType: MEDIA_TYPE };
        }),
      };
    },
  });
  const facts = {
    title: "Conversations of Vis",
    description: "One conversation with everything that was asked, run and answered",
    mimeType: MEDIA_TYPE,
  };
  server.registerResource("conversation", template, facts, async (uri, { id }) => {
    const { conversations } = await parts.open();
    const branch = await conversations.byId(String(id));
    const { exportMarkdown } = await import("../../conversation/export/markdown.ts");
    const pieces: string[] = [];
    let chars = 0;
    for await (const piece of exportMarkdown(await conversations.paged(branch))) {
      chars += piece.length;
      if (chars > MOST_CHARS) {
        throw new UsageError(
          `Cannot read conversation ${branch.conversationId}: its Markdown has more than ${MOST_CHARS} characters, ` +
            `the limit; the user can run vis conversations export ${branch.conversationId}`,
        );
      }
      pieces.push(piece);
    }
    const text = pieces.join("");
    return { contents: [{ uri: uri.href, mimeType: MEDIA_TYPE, text }] };
  });
}

const NEWLINE = 10;

/** Readers join an incomplete line again for each piece, so each piece ends with a line break. */
function joinLines(): TransformStream<Uint8Array, Uint8Array> {
  let begun: Uint8Array[] = [];
  return new TransformStream({
    transform: (bytes, controller) => {
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        controller.enqueue(Buffer.concat([...begun, bytes.subarray(0, end)]));
        begun = [];
      }
      if (end < bytes.length) begun.push(bytes.slice(end));
    },
  });
}
