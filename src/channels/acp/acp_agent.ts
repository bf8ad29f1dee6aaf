import { setImmediate } from "node:timers";
import { fileURLToPath } from "node:url";
import {
  agent,
  type AgentApp,
  type AgentContext,
  type AvailableCommand,
  type ContentBlock,
  type ListSessionsRequest,
  type ListSessionsResponse,
  methods,
  type PermissionOptionKind,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionResponse,
  type SessionUpdate,
  type StopReason,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import type { AskOptions } from "../../conversation/ask_options.ts";
import { storedEvents } from "../../conversation/stored_events.ts";
import { BusyError, faultOf, UsageError } from "../../domain/errors.ts";
import type { Image } from "../../domain/images.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import {
  approvalBeginning,
  approvalChange,
  approvalChoices,
  approvalLine,
  approvalWhy,
  type Approve,
} from "../../domain/query/approval.ts";
import {
  type Decision,
  MORE_TEXT,
  type QueryReason,
  shownAnswer,
  stoppedText,
  takesMore,
} from "../../domain/query/outcomes.ts";
import { isChild } from "../../domain/query/query_event.ts";
import { QueryProgress } from "../../domain/query/query_progress.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import { requestOfImages, shownRange } from "../../domain/query/stored_query.ts";
import {
  lineOfRequest,
  requestOfCommand,
  SCREEN_COMMANDS,
  typedCommand,
  type TypedRequest,
  withoutWords,
} from "../../domain/query/typed_request.ts";
import { fenced, messageChunk, SessionUpdates } from "./session_updates.ts";
import { EditorSessions, type OpenSession, UNTITLED } from "./sessions.ts";

const LISTED = 100;
const MORE = "more";

const STOPS: Partial<Readonly<Record<QueryReason, StopReason>>> = {
  answered: "end_turn",
  cancelled: "cancelled",
  max_iterations: "max_turn_requests",
  error_budget: "max_turn_requests",
  limit_tokens: "max_tokens",
};

export type Prompts = (
  workspace: string,
) => Promise<readonly { readonly name: string; readonly detail: string; readonly text: string }[]>;

export function acpAgent(
  sessions: EditorSessions,
  { version, prompts }: { readonly version: string; readonly prompts: Prompts },
): AgentApp {
  const { agent: of } = methods;
  /** An editor knows a new session only after the response, which the library sends first. */
  const offerLater = (client: AgentContext, sessionId: string): void => {
    setImmediate(() => {
      const offering = async (): Promise<void> =>
        await tellCommands(sessions.get(sessionId), { prompts, send: tell(client, sessionId) });
      void offering().catch(() => {}); // The editor may have closed the session or the connection.
    });
  };
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
    .onRequest(of.session.new, ({ params, client }) =>
      asked(async () => {
        const sessionId = await sessions.create(params);
        offerLater(client, sessionId);
        return { sessionId };
      }))
    .onRequest(of.session.load, ({ params: { sessionId, ...place }, client }) =>
      asked(async () => {
        await replay(await sessions.load(sessionId, place), tell(client, sessionId));
        offerLater(client, sessionId);
        return {};
      }))
    .onRequest(of.session.resume, ({ params: { sessionId, ...place }, client }) =>
      asked(async () => {
        await sessions.load(sessionId, place);
        offerLater(client, sessionId);
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
    .onRequest(of.session.prompt, ({ params: { sessionId, prompt }, client, signal: ofPrompt }) =>
      asked(async () => {
        const signal = AbortSignal.any([ofPrompt, sessions.cancelled]);
        const entry = sessions.get(sessionId);
        const send = tell(client, sessionId);
        const approve = askPermission(client, sessionId);
        const { request, ...attached } = promptOf(prompt);
        const isMore = request === `/${MORE}` && attached.images.length + Object.keys(attached.variables).length === 0;
        const { workspace } = entry.branch;
        const typed = async () => isMore ? null : await typedRequest(request, () => prompts(workspace));
        const result = await run(entry, { typed, attached, send, approve, signal });
        offerLater(client, sessionId);
        const stopReason = STOPS[result.reason];
        if (stopReason === undefined) throw RequestError.internalError({ reason: result.reason }, shownAnswer(result));
        return { stopReason };
      }));
}

type Send = (update: SessionUpdate) => Promise<void>;

function tell(client: AgentContext, sessionId: string): Send {
  return (update) => client.notify(methods.client.session.update, { sessionId, update });
}

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
  { typed, attached, send, approve, signal }: {
    /** Null means more steps for the last request. */
    readonly typed: () => Promise<TypedRequest | null>;
    readonly attached: Omit<Prompt, "request">;
    readonly send: Send;
    readonly approve: Approve;
    readonly signal: AbortSignal;
  },
): Promise<QueryResult> {
  const { session: { conversations }, branch } = entry;
  const controller = new AbortController();
  if (entry.running) {
    throw new BusyError(
      `Cannot start the request: session ${branch.conversationId} already runs another request; wait until it ends, or cancel it`,
    );
  }
  entry.running = controller;
  const progress = new QueryProgress();
  const updates = new SessionUpdates(branch.workspace);
  let sent: Promise<unknown> = Promise.resolve();
  const queue = (telling: () => Promise<void>): void => {
    sent = sent.then(telling).catch(() => controller.abort()); // The editor may have closed the connection.
  };
  try {
    const common: AskOptions = {
      signal: AbortSignal.any([signal, controller.signal]),
      refuseWhenBusy: true,
      approve,
      emit: (event) => {
        const update = updates.take(event);
        progress.take(event);
        if (update) queue(() => send(update));
        if (event.type === "started" && !isChild(event)) queue(() => tellTitle(entry, send));
      },
    };
    const request = await typed();
    const result = request === null
      ? await conversations.more(branch, common)
      : await conversations.ask(branch, request.text, { ...common, ...attached, only: request.only });
    const { reason } = result;
    if (STOPS[reason] && reason !== "cancelled") {
      const why = stoppedText(result);
      const rest = progress.answer === "" ? shownAnswer(result) : why === "" ? "" : `\n\n${why}`;
      const work = result.work?.text ? `\n\n*${result.work.text}*` : "";
      if (rest + work !== "") queue(() => send(messageChunk(rest + work)));
    }
    queue(() => tellTitle(entry, send));
    await sent;
    return result;
  } finally {
    entry.running = null;
  }
}

async function tellTitle(entry: OpenSession, send: Send): Promise<void> {
  const { title } = await entry.session.conversations.byId(entry.branch.conversationId);
  if (title === entry.title) return;
  entry.title = title;
  await send({ sessionUpdate: "session_info_update", title });
}

const COMMAND: Readonly<Record<"more" | "plan" | "review", AvailableCommand>> = {
  more: { name: MORE, description: `${MORE_TEXT} for the last request, which stopped at its step limit` },
  plan: {
    name: "plan",
    description: "Only read, and answer with a plan",
    input: { hint: "what to plan" },
  },
  review: {
    name: "review",
    description: "Review the uncommitted changes, a commit, or all since a branch",
    input: { hint: "a commit or a branch, then instructions" },
  },
};

async function tellCommands(
  entry: OpenSession,
  { prompts, send }: { readonly prompts: Prompts; readonly send: Send },
): Promise<void> {
  const { session: { conversations }, branch } = entry;
  const own = (await prompts(branch.workspace)).filter(({ name }) => !isTaken(name));
  const { reason = null } = (await conversations.queries(branch, { newest: 1 })).at(-1) ?? {};
  const availableCommands = [
    ...(reason !== null && takesMore(reason) ? [COMMAND.more] : []),
    COMMAND.plan,
    ...(own.some(({ name }) => name === "review") ? [] : [COMMAND.review]),
    ...own.map(({ name, detail }) => ({ name, description: detail, input: { hint: "instructions" } })),
  ];
  const offered = JSON.stringify(availableCommands);
  if (entry.offered === offered) return;
  entry.offered = offered;
  await send({ sessionUpdate: "available_commands_update", availableCommands });
}

function isTaken(name: string): boolean {
  return name === "plan" || Object.hasOwn(SCREEN_COMMANDS, name);
}

async function typedRequest(text: string, prompts: () => ReturnType<Prompts>): Promise<TypedRequest> {
  const command = typedCommand(text);
  if (command === null) return { text };
  const { name, rest } = command;
  const own = isTaken(name) ? undefined : (await prompts()).find((one) => one.name === name);
  const request = requestOfCommand(command, own?.text ?? null);
  if (request?.text === "") throw withoutWords(name);
  if (request === null && (rest.trim() === "" || isTaken(name))) {
    throw new UsageError(
      `Cannot run /${name}: it is not one of the commands for editors; choose a command from their list`,
    );
  }
  return request ?? { text };
}

async function replay(entry: OpenSession, send: Send): Promise<void> {
  const { session: { conversations }, branch } = entry;
  const updates = new SessionUpdates(branch.workspace);
  const queries = await conversations.queries(branch);
  for (const query of queries) {
    const iterations = await conversations.iterations(query.queryId, shownRange(query));
    for (const event of storedEvents(query, iterations)) {
      const update = event.type === "started"
        ? userChunk(lineOfRequest(query))
        : event.type === "steered"
        ? userChunk(event.text)
        : updates.take(event);
      if (update) await send(update);
    }
    if (query.running) await send(messageChunk("This request is still running."));
    if (query.answer !== "") await send(messageChunk(query.answer));
  }
}

function userChunk(text: string): SessionUpdate {
  return { sessionUpdate: "user_message_chunk", content: { type: "text", text } };
}

async function list(sessions: EditorSessions, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  if (cursor && !/^\d{1,15}$/.test(cursor)) {
    throw RequestError.invalidParams(
      { cursor },
      `Cannot list sessions: ${cursor.slice(0, 50)} is not a cursor of Vis; start without a cursor`,
    );
  }
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

type Resource = Extract<ContentBlock, { readonly type: "resource" }>;
type Source = NonNullable<AskOptions["context"]>;

interface Prompt {
  readonly request: string;
  readonly images: readonly Image[];
  readonly variables: Readonly<Record<string, Source>>;
}

/** Embedded texts become variables, so that model calls do not repeat a large file. */
function promptOf(blocks: readonly ContentBlock[]): Prompt {
  const texts: string[] = [];
  const images: Image[] = [];
  const variables: Record<string, Source> = {};
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "resource_link") texts.push(linkText(block));
    else if (block.type === "image") images.push(imageOf(block.data, block.mimeType));
    else if (block.type === "resource") texts.push(embedded(block, { images, variables }));
    else {throw new UsageError(
        `Cannot accept a prompt with ${block.type}: Vis reads only text, images and resources; leave out this part`,
      );}
  }
  return { request: requestOfImages(texts.join("\n").trim(), images), images, variables };
}

/** The query reads a file that the request names as `@path`. */
function linkText({ uri, title, name }: Extract<ContentBlock, { readonly type: "resource_link" }>): string {
  const path = URL.parse(uri)?.protocol === "file:" ? pathOf(uri) : null;
  return path === null ? `${title ?? name} (${uri})` : /[\s"]/.test(path) ? `@"${path}"` : `@${path}`;
}

function pathOf(uri: string): string | null {
  try {
    return fileURLToPath(uri);
  } catch {
    return null;
  }
}

function embedded(
  { resource }: Resource,
  { images, variables }: { readonly images: Image[]; readonly variables: Record<string, Source> },
): string {
  if ("text" in resource) {
    const name = freeName(resource.uri, variables);
    variables[name] = {
      label: resource.uri,
      json: false,
      encoding: "utf-8",
      pieces: ReadableStream.from([new TextEncoder().encode(resource.text)]),
    };
    return `${resource.uri} (its text is the variable ${name})`;
  }
  if (!resource.mimeType?.startsWith("image/")) {
    throw new UsageError(
      `Cannot accept ${resource.uri}: it is ${
        resource.mimeType ?? "binary"
      }, but Vis reads only text and images; convert it to text`,
    );
  }
  images.push(imageOf(resource.blob, resource.mimeType));
  return resource.uri;
}

function imageOf(base64: string, mediaType: string): Image {
  try {
    return { kind: "bytes", mediaType, bytes: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
  } catch {
    throw new UsageError("Cannot accept an image of the prompt: its data is not base64; encode it as base64");
  }
}

function freeName(uri: string, taken: Readonly<Record<string, Source>>): string {
  const last = uri.replace(/[?#].*$/, "").split("/").findLast((part) => part !== "") ?? "";
  const name = `${last.replace(/%[0-9a-f]{2}|[^\w]/gi, "_").slice(0, 40)}`.replace(/^(?=\d|$)/, "file_");
  let at = 1;
  const numbered = (): string => at === 1 ? name : `${name}${at}`;
  while (Object.hasOwn(taken, numbered())) at++;
  return numbered();
}

const KINDS: Readonly<Record<Decision, PermissionOptionKind>> = {
  once: "allow_once",
  conversation: "allow_always",
  workspace: "allow_always",
  no: "reject_once",
};

/** The returned function rejects if the editor does not support permission requests. */
function askPermission(client: AgentContext, sessionId: string): Approve {
  return async (question, signal) => {
    const choices = approvalChoices(question);
    const title = approvalLine(question);
    const change = approvalChange(question);
    const texts = [
      approvalBeginning(question) === "" ? "" : title,
      change === "" ? "" : fenced(change.trimEnd(), "diff"),
      approvalWhy(question),
    ];
    const content = texts.filter((text) => text !== "").map((text): ToolCallContent => ({
      type: "content",
      content: { type: "text", text },
    }));
    const asking: Promise<RequestPermissionResponse> = client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: question.id, title, status: "pending", content },
      options: choices.map(({ decision, text }) => ({ optionId: decision, name: text, kind: KINDS[decision] })),
    });
    // The editor may reject the request after the signal has aborted, when `abortable` no longer waits.
    asking.catch(() => {});
    const { outcome } = await abortable(asking, signal);
    const chosen = outcome.outcome === "selected" ? outcome.optionId : "no";
    const { decision } = choices.find((one) => one.decision === chosen) ?? { decision: "no" };
    return { decision, reason: "" };
  };
}
