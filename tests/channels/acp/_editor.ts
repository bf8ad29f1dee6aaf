import {
  client,
  type ClientContext,
  methods,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { acpAgent } from "../../../src/channels/acp/acp_agent.ts";
import { EditorSessions, type Open } from "../../../src/channels/acp/sessions.ts";
import type { Session } from "../../../src/channels/channel.ts";
import type { PromptFile } from "../../../src/channels/tui/prompt_files.ts";
import { type Engine, type EngineOptions, startEngine } from "../../helpers/engine.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";

export const FOLDER = "/nowhere";

export interface Editor {
  readonly engine: Engine;
  readonly context: ClientContext;
  readonly updates: SessionUpdate[];
  readonly opened: (string | undefined)[];
  readonly closed: (string | undefined)[];
  readonly servers: unknown[];
}

/** Answers a request for permission. Without it, the editor knows no such request. */
export type Permit = (asked: RequestPermissionRequest) => Promise<RequestPermissionOutcome>;

export function sessionIn(engine: Engine, cwd: string, close = () => {}): Session {
  return {
    conversations: engine.conversations,
    workspace: cwd,
    provider: "script",
    model: "script",
    database: ":memory:",
    close: () => Promise.resolve(close()),
  };
}

export async function withEditor(
  replies: readonly ScriptedReply[],
  work: (editor: Editor) => Promise<void>,
  { permit, offered = [], ...options }: EngineOptions & {
    readonly permit?: Permit;
    readonly offered?: readonly PromptFile[];
  } = {},
): Promise<void> {
  await using engine = await startEngine(replies, { workspace: FOLDER, ...options });
  const editor = { engine, updates: [] as SessionUpdate[], opened: [], closed: [], servers: [] } as Omit<
    Editor,
    "context"
  >;
  const open = ({ cwd, mcpServers }: Parameters<Open>[0]): Promise<Session> => {
    editor.opened.push(cwd);
    editor.servers.push(mcpServers);
    return Promise.resolve(sessionIn(engine, cwd ?? FOLDER, () => editor.closed.push(cwd)));
  };
  const sessions = new EditorSessions(open);
  const prompts = () => Promise.resolve(offered);
  const plain = client({ name: "test" }).onNotification(methods.client.session.update, ({ params }) => {
    editor.updates.push(params.update);
  });
  const app = permit
    ? plain.onRequest(
      methods.client.session.requestPermission,
      async ({ params }) => ({ outcome: await permit(params) }),
    )
    : plain;
  try {
    await app.connectWith(acpAgent(sessions, { version: "1.2.3", prompts }), async (context) => {
      await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      await work({ ...editor, context });
    });
  } finally {
    await sessions.close();
  }
}

export function textOf(updates: readonly SessionUpdate[], kind: SessionUpdate["sessionUpdate"]): string {
  return updates.map((update) => {
    if (update.sessionUpdate !== kind || !("content" in update)) return "";
    const { content } = update;
    return content && "text" in content ? content.text : "";
  }).join("");
}
