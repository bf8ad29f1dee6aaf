import { homedir } from "node:os";
import type { OpenRequest, Peer, Session, SpeakRequest } from "../../channels/channel.ts";
import type { PromptFile } from "../../channels/tui/prompt_files.ts";
import { messageOf } from "../../domain/errors.ts";
import type { VersionFacts } from "../../domain/admin_reports.ts";
import { createLog } from "../../logging/log.ts";
import { openTraced, type SessionParts } from "../session/open_session.ts";
import { readSettings, rootOf } from "../settings/settings.ts";

type Parts = SessionParts & { readonly version: VersionFacts };

export async function speak(
  { protocol, onNote, ...request }: SpeakRequest,
  { version, ...parts }: Parts,
): Promise<Peer> {
  const streams = { readable: Deno.stdin.readable, writable: Deno.stdout.writable };
  let isOpened = false;
  const open = async (asked: Pick<OpenRequest, "cwd" | "mcpServers">): Promise<Session> => {
    const session = await openTraced({ ...request, ...asked, serves: [] }, { ...parts, version: version.vis });
    isOpened = true;
    return session;
  };
  if (protocol === "acp") {
    const [{ serveAcp }, { offeredPrompts }] = await Promise.all([
      import("../../channels/acp/serve_acp.ts"),
      import("./offered_prompts.ts"),
    ]);
    await readSettings(request, parts.env, parts); // Vis reports a fault of the settings before the first session.
    const { extension } = request;
    const prompts = async (cwd: string): Promise<readonly PromptFile[]> => {
      const settings = await readSettings({ ...request, cwd }, parts.env, parts);
      const root = rootOf(settings, parts.env);
      return await offeredPrompts(settings, { parts, extension, root, userHome: homedir() });
    };
    const peer = serveAcp({ open, prompts, version: version.vis }, streams);
    const tried = async (): Promise<unknown> => {
      if (isOpened) return null;
      try {
        await (await open({})).close();
        return null;
      } catch (error) {
        onNote(messageOf(error));
        return error;
      }
    };
    return { ended: peer.ended.then(tried), close: peer.close };
  }
  const { serveMcp } = await import("../../channels/mcp/serve_mcp.ts");
  await readSettings(request, parts.env, parts);
  let opening: Promise<Session> | null = null, fault: unknown = null;
  const session = (): Promise<Session> => {
    const current = opening ??= open({});
    current.catch((error: unknown) => {
      opening = null;
      fault = error;
    });
    return current;
  };
  session().catch((error: unknown) => onNote(messageOf(error)));
  const peer = serveMcp({ open: session, version: version.vis, log: createLog(protocol) }, streams);
  return {
    ended: peer.ended.then(async () => {
      await opening?.catch(() => {});
      return isOpened ? null : fault;
    }),
    close: async () => {
      await peer.close();
      await (await opening?.catch(() => null))?.close();
    },
  };
}
