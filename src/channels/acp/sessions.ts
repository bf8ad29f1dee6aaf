import { type McpServer, RequestError } from "@agentclientprotocol/sdk";
import type { Conversation } from "../../conversation/conversations.ts";
import { UsageError, WorkspaceError } from "../../domain/errors.ts";
import type { OpenRequest, Session } from "../channel.ts";

export const UNTITLED = "New session";

const EMPTY_MS = 7 * 86_400_000;
const SWEPT = 100;

export interface OpenSession {
  readonly session: Session;
  readonly branch: Conversation;
  running: AbortController | null;
  title: string;
  /** The commands that the editor has last received. */
  offered: string;
}

interface SessionRequest {
  readonly cwd?: string;
  readonly mcpServers?: readonly McpServer[] | undefined;
}

export type Open = (place: Pick<OpenRequest, "cwd" | "mcpServers">) => Promise<Session>;

/** Another connection may load the conversations, so `close` leaves them in the store. */
export class EditorSessions {
  readonly #open: Open;
  readonly #now: () => number;
  readonly #folders = new Map<string, Promise<Session>>();
  readonly #entries = new Map<string, OpenSession>();
  readonly #cancelled = new AbortController();

  constructor(open: Open, now: () => number = Date.now) {
    this.#open = open;
    this.#now = now;
  }

  async folder({ cwd, mcpServers = [] }: SessionRequest): Promise<Session> {
    if (cwd !== undefined && !cwd.startsWith("/") && !/^[A-Za-z]:[\\/]/.test(cwd)) {
      throw RequestError.invalidParams(
        { cwd },
        `Cannot open a session: its cwd ${cwd} is not an absolute path; send an absolute path`,
      );
    }
    const servers = offeredServers(mcpServers);
    const key = JSON.stringify([cwd, servers]);
    const known = this.#folders.get(key);
    if (known) return await known;
    const opening = this.#open({ ...(cwd === undefined ? {} : { cwd }), mcpServers: servers }).catch(
      (error: unknown) => {
        if (cwd === undefined || !(error instanceof WorkspaceError)) throw error;
        const problem = `Cannot open a session: its cwd is ${cwd}, and ${error.why}; open another folder`;
        throw RequestError.invalidParams({ cwd }, problem);
      },
    );
    this.#folders.set(key, opening);
    opening.catch(() => this.#folders.delete(key));
    return await opening;
  }

  async create(place: SessionRequest): Promise<string> {
    const session = await this.folder(place);
    await this.#sweep(session);
    const branch = await session.conversations.create({
      title: UNTITLED,
      channel: "acp",
      workspace: session.workspace,
      untitled: true,
    });
    this.#entries.set(branch.conversationId, opened(session, branch, UNTITLED));
    return branch.conversationId;
  }

  async load(id: string, place: SessionRequest): Promise<OpenSession> {
    const session = await this.folder(place);
    const branch = await session.conversations.byId(id).catch((error: unknown) => {
      throw error instanceof UsageError ? RequestError.sessionNotFound(id) : error;
    });
    if (place.cwd !== undefined && branch.workspace !== session.workspace) {
      throw RequestError.invalidParams(
        { cwd: place.cwd },
        `Cannot open session ${id} in ${session.workspace}: it belongs to ${branch.workspace}; open that folder`,
      );
    }
    const entry = this.#entries.get(id) ?? opened(session, branch, branch.title);
    entry.offered = "";
    this.#entries.set(id, entry);
    return entry;
  }

  get(id: string): OpenSession {
    const entry = this.#entries.get(id);
    if (!entry) throw RequestError.sessionNotFound(id);
    return entry;
  }

  cancel(id: string): void {
    this.#entries.get(id)?.running?.abort();
  }

  get cancelled(): AbortSignal {
    return this.#cancelled.signal;
  }

  cancelAll(): void {
    this.#cancelled.abort();
  }

  async leave(id: string): Promise<void> {
    const { session, branch, title } = await this.#end(id);
    if (title === UNTITLED && (await session.conversations.queries(branch)).length === 0) {
      await session.conversations.delete(branch);
    }
  }

  async #end(id: string): Promise<OpenSession> {
    const entry = this.get(id);
    entry.running?.abort();
    this.#entries.delete(id);
    await entry.session.conversations.close(entry.branch.branchId);
    return entry;
  }

  /** Editors make a session for each window, so a session may never get a request. */
  async #sweep({ conversations, workspace }: Session): Promise<void> {
    const found = await conversations.list({ channel: "acp", workspace, limit: SWEPT });
    for (const one of found) {
      if (one.queries > 0 || one.activeAt > this.#now() - EMPTY_MS || this.#entries.has(one.conversationId)) continue;
      await conversations.delete(one).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error; // Another process may have deleted the session.
      });
    }
  }

  async delete(id: string): Promise<void> {
    const { session, branch } = this.#entries.get(id) ?? await this.load(id, {});
    await this.leave(id);
    await session.conversations.delete(branch).catch((error: unknown) => {
      if (!(error instanceof UsageError)) throw error; // `leave` has already deleted a session without a request.
    });
  }

  async close(): Promise<void> {
    for (const id of [...this.#entries.keys()]) await this.#end(id);
    for (const opening of this.#folders.values()) await (await opening.catch(() => null))?.close();
    this.#folders.clear();
  }
}

function opened(session: Session, branch: Conversation, title: string): OpenSession {
  return { session, branch, running: null, title, offered: "" };
}

type Servers = Readonly<Record<string, object>>;

function offeredServers(offered: readonly McpServer[]): Servers {
  const servers = new Map<string, object>();
  for (const server of offered) servers.set(freeName(server.name, servers), settingsOf(server));
  return Object.fromEntries(servers);
}

function settingsOf(server: McpServer): object {
  if (!("type" in server)) {
    return { command: server.command, args: server.args, env: record(server.env), network: true, write: ["."] };
  }
  if (server.type === "http") return { url: server.url, headers: record(server.headers) };
  throw new UsageError(
    `Cannot use MCP server ${server.name}: its type is ${server.type}, but Vis supports only stdio and HTTP; use one of these`,
  );
}

function freeName(given: string, taken: ReadonlyMap<string, object>): string {
  const name = given.replace(/[^\w-]/g, "_").replace(/^(?![A-Za-z])/, "mcp_").slice(0, 38);
  let at = 1;
  while (taken.has(at === 1 ? name : `${name}${at}`)) at++;
  return at === 1 ? name : `${name}${at}`;
}

function record(pairs: readonly { readonly name: string; readonly value: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
