import {
  agent,
  type AgentApp,
  type AgentContext,
  type ListSessionsRequest,
  type ListSessionsResponse,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import { storedEvents } from "../../conversation/stored_events.ts";
import { BusyError, faultOf } from "../../domain/errors.ts";
import type { Approve } from "../../domain/query/approval.ts";
import { type QueryReason, shownAnswer, stoppedText } from "../../domain/query/outcomes.ts";
import { isChild } from "../../domain/query/query_event.ts";
import { QueryProgress } from "../../domain/query/query_progress.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import { shownRange } from "../../domain/query/stored_query.ts";
import { askPermission } from "./ask_permission.ts";
import { promptOf } from "./prompt_of.ts";
import { messageChunk, SessionUpdates } from "./session_updates.ts";
import { EditorSessions, type OpenSession, UNTITLED } from "./sessions.ts";

const LISTED = 100;

/** Ends of a query that are reported to the editor as a stop; all others are errors with the answer as their
 * message. */
const STOPS: Partial<Readonly<Record<QueryReason, StopReason>>> = {
  answered: "end_turn",
  cancelled: "cancelled",
  max_iterations: "max_turn_requests",
  error_budget: "max_turn_requests",
  limit_tokens: "max_tokens",
};

/** Vis as an agent of the Agent Client Protocol, for one connection. The caller that provides the sessions closes
 * them. */
export function acpAgent(sessions: EditorSessions, { version }: { readonly version: string }): AgentApp {
  const { agent: of } = methods;
  return agent({ name: "vis" })
    .onRequest(of.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "vis", title: "Vis", version },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true },
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
      authMethods: [],
    }))
    .onRequest(of.session.new, ({ params }) => asked(async () => ({ sessionId: await sessions.create(params) })))
    .onRequest(of.session.load, ({ params: { sessionId, ...place }, client }) =>
      asked(async () => {
        await replay(await sessions.load(sessionId, place), tell(client, sessionId));
        return {};
      }))
    .onRequest(of.session.resume, ({ params: { sessionId, ...place } }) =>
      asked(async () => {
        await sessions.load(sessionId, place);
        return {};
      }))
    .onRequest(of.session.list, ({ params }) => asked(() => list(sessions, params)))
    .onRequest(of.session.close, ({ params: { sessionId } }) =>
      asked(async () => {
        await sessions.leave(sessionId);
        return {};
      }))
    .onRequest(of.session.delete, ({ params: { sessionId } }) =>
      asked(async () => {
        await sessions.delete(sessionId);
        return {};
      }))
    .onNotification(of.session.cancel, ({ params: { sessionId } }) => sessions.cancel(sessionId))
    .onRequest(of.session.prompt, ({ params: { sessionId, prompt }, client, signal }) =>
      asked(async () => {
        const entry = sessions.get(sessionId);
        const send = tell(client, sessionId);
        const approve = askPermission(client, sessionId);
        const result = await run(entry, { given: promptOf(prompt), send, approve, signal });
        const stopReason = STOPS[result.reason];
        if (stopReason === undefined) throw RequestError.internalError({ reason: result.reason }, shownAnswer(result));
        return { stopReason };
      }));
}

type Send = (update: SessionUpdate) => Promise<void>;

function tell(client: AgentContext, sessionId: string): Send {
  return (update) => client.notify(methods.client.session.update, { sessionId, update });
}

/** User errors become protocol errors with the same message. */
async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const fault = faultOf(error);
    if (fault?.kind === "busy") throw RequestError.invalidRequest({ busy: true }, fault.message);
    if (fault?.kind === "usage") throw RequestError.invalidParams(undefined, fault.message);
    throw error;
  }
}

async function run(
  entry: OpenSession,
  { given: { request, images, variables }, send, approve, signal }: {
    readonly given: ReturnType<typeof promptOf>;
    readonly send: Send;
    readonly approve: Approve;
    readonly signal: AbortSignal;
  },
): Promise<QueryResult> {
  const { session: { conversations }, branch } = entry;
  const controller = new AbortController();
  if (entry.running) throw new BusyError(`Session is busy: ${branch.conversationId}`);
  entry.running = controller;
  const progress = new QueryProgress();
  const updates = new SessionUpdates(branch.workspace);
  let sent: Promise<unknown> = Promise.resolve();
  const queue = (telling: () => Promise<void>): void => {
    sent = sent.then(telling).catch(() => controller.abort()); // the editor has left
  };
  try {
    const result = await conversations.ask(branch, request, {
      signal: AbortSignal.any([signal, controller.signal]),
      refuseWhenBusy: true,
      approve,
      images,
      variables,
      emit: (event) => {
        const update = updates.take(event);
        progress.take(event);
        if (update) queue(() => send(update));
        if (event.type === "started" && !isChild(event)) queue(() => tellTitle(entry, send));
      },
    });
    const { reason } = result;
    if (STOPS[reason] && reason !== "cancelled") {
      const why = stoppedText(result);
      const rest = progress.answer === "" ? shownAnswer(result) : why === "" ? "" : `\n\n${why}`;
      if (rest !== "") queue(() => send(messageChunk(rest)));
    }
    queue(() => tellTitle(entry, send));
    await sent;
    return result;
  } finally {
    entry.running = null;
  }
}

/** A conversation gets its title with the first request, or from a model while that request runs. */
async function tellTitle(entry: OpenSession, send: Send): Promise<void> {
  const { title } = await entry.session.conversations.byId(entry.branch.conversationId);
  if (title === entry.title) return;
  entry.title = title;
  await send({ sessionUpdate: "session_info_update", title });
}

/** Everything that the requests of a session did, as far as it is stored. */
async function replay({ session: { conversations, model }, branch }: OpenSession, send: Send): Promise<void> {
  const updates = new SessionUpdates(branch.workspace);
  for (const query of await conversations.queries(branch)) {
    const iterations = await conversations.iterations(query.queryId, shownRange(query));
    for (const event of storedEvents(query, { iterations, model })) {
      const update = event.type === "started"
        ? userChunk(event.request)
        : event.type === "steered"
        ? userChunk(event.text)
        : updates.take(event);
      if (update) await send(update);
    }
    if (query.running) await send(messageChunk("This request is still running in another process."));
    if (query.answer !== "") await send(messageChunk(query.answer));
  }
}

function userChunk(text: string): SessionUpdate {
  return { sessionUpdate: "user_message_chunk", content: { type: "text", text } };
}

/** The sessions of a folder, or of all, the one that was used last first. A cursor is the place of the last one so far. */
async function list(sessions: EditorSessions, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  if (cursor && !/^\d{1,15}$/.test(cursor)) throw RequestError.invalidParams({ cursor }, "Unknown cursor");
  const { conversations, workspace } = await sessions.folder(cwd ? { cwd } : {});
  const after = cursor ? Number(cursor) : undefined;
  const found = await conversations.list({ limit: LISTED, after, workspace: cwd ? workspace : undefined });
  const last = found.length === LISTED ? found.at(-1) : undefined;
  return {
    sessions: found.map((one) => ({
      sessionId: one.conversationId,
      cwd: one.workspace,
      title: one.title === UNTITLED ? null : one.title,
      updatedAt: new Date(one.activeAt).toISOString(),
    })),
    ...(last ? { nextCursor: String(last.place) } : {}),
  };
}
