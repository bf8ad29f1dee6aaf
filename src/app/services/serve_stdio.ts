import type { OpenRequest, Peer, Session, SpeakRequest } from "../../channels/channel.ts";
import { messageOf } from "../../domain/errors.ts";
import type { VersionFacts } from "../../domain/admin_reports.ts";
import { createLog } from "../../logging/log.ts";
import { openTraced, type SessionParts } from "../session/open_session.ts";
import { readSettings } from "../settings/settings.ts";

type Parts = SessionParts & { readonly version: VersionFacts };

export async function speak(
  { protocol, onNote, ...request }: SpeakRequest,
  { version, ...parts }: Parts,
): Promise<Peer> {
  const streams = { readable: Deno.stdin.readable, writable: Deno.stdout.writable };
  const open = (asked: Pick<OpenRequest, "cwd" | "mcpServers">): Promise<Session> =>
    openTraced({ ...request, ...asked, serves: [] }, { ...parts, version: version.vis });
  if (protocol === "acp") {
    const { serveAcp } = await import("../../channels/acp/serve_acp.ts");
    await readSettings(request, parts.env, parts); // Vis reports a fault of the settings before the first session.
    return serveAcp({ open, version: version.vis }, streams);
  }
  const { serveMcp } = await import("../../channels/mcp/serve_mcp.ts");
  await readSettings(request, parts.env, parts);
  let opening: Promise<Session> | null = null;
  const session = (): Promise<Session> => {
    const current = opening ??= open({});
    current.catch(() => opening = null);
    return current;
  };
  session().catch((error: unknown) => onNote(messageOf(error)));
  const peer = serveMcp({ open: session, version: version.vis, log: createLog(protocol) }, streams);
  return {
    ended: peer.ended,
    close: async () => {
      await peer.close();
      await (await opening?.catch(() => null))?.close();
    },
  };
}
