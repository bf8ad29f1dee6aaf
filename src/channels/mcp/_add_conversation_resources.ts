import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { UsageError } from "../../domain/errors.ts";
import type { McpParts } from "./_tool_parts.ts";

const LISTED = 50;
const MEDIA_TYPE = "text/markdown";
/** A resource is one message, in memory here and in the client. */
const MOST_CHARS = 8_000_000;

const addressOf = (id: string): string => `vis://conversations/${id}`;

/** Conversations as resources, so that users of a client can attach one: requests, code, results and answers. */
export function addConversationResources(server: McpServer, parts: McpParts): void {
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
          `Cannot read conversation: its Markdown has more than ${MOST_CHARS} characters, use vis conversations export`,
        );
      }
      pieces.push(piece);
    }
    const text = pieces.join("");
    return { contents: [{ uri: uri.href, mimeType: MEDIA_TYPE, text }] };
  });
}
