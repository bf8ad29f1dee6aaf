import type { Peer, SpeakRequest, VersionFacts } from "../channels/channel.ts";
import { createLog } from "../logging/log.ts";
import { openSession, type SessionParts } from "./open_session.ts";

type Parts = SessionParts & { readonly version: VersionFacts };

/** A session behind a protocol on stdin and stdout. Throws `ConfigError`, `UsageError` and `StoreError`; nothing is
 * open then. */
export async function speak({ protocol, ...request }: SpeakRequest, { version, ...parts }: Parts): Promise<Peer> {
  const streams = { readable: Deno.stdin.readable, writable: Deno.stdout.writable };
  const log = createLog(protocol);
  const { serveMcp } = await import("../channels/mcp/serve_mcp.ts");
  const session = await openSession(request, parts);
  const { conversations, workspace } = session;
  const peer = serveMcp({ conversations, workspace, version: version.vis, log }, streams);
  return {
    ended: peer.ended,
    close: async () => {
      await peer.close();
      await session.close();
    },
  };
}
