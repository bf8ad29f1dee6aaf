import { ndJsonStream } from "@agentclientprotocol/sdk";
import type { Peer } from "../channel.ts";
import { acpAgent } from "./acp_agent.ts";
import { answeredStream } from "./answered_stream.ts";
import { EditorSessions, type Open } from "./sessions.ts";

/** Speaks the Agent Client Protocol on a pair of streams, until the editor closes its end. */
export function serveAcp(
  { open, version }: { readonly open: Open; readonly version: string },
  { readable, writable }: {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  },
): Peer {
  const sessions = new EditorSessions(open);
  const connection = acpAgent(sessions, { version }).connect(answeredStream(ndJsonStream(writable, readable)));
  return {
    ended: connection.closed,
    close: async () => {
      connection.close();
      await sessions.close();
    },
  };
}
