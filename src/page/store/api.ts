import type { z } from "zod";
import type * as schema from "../../channels/http/api/schemas.ts";
import type { SearchHitSchema } from "../../channels/search_hit_schema.ts";
import type { BlockDiff } from "../../domain/query/host_call.ts";
import type { ModelTrace } from "../../domain/query/model_call.ts";
import { isOwnEnd } from "../../domain/query/query_event.ts";
import type { BlockResult, QueryEvent, Usage, Work } from "../../domain/query/query_schemas.ts";
import type { MarkdownBlock } from "../../markdown/tree.ts";

const KEY = "vis-token";

export const REFUSED = "vis-refused";

const SOON_S = 10;

interface RequestOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export class Refused extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
    this.name = "Refused";
  }

  /** The same request may succeed later: a proxy can respond with 500 or more during a restart, and 429 marks a limit. */
  get isPassing(): boolean {
    return this.status >= 500 || this.status === 429;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Refused && error.status === 404;
}

export function takeToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = given.get("token");
  if (found) {
    keepToken(found);
    given.delete("token");
    history.replaceState(null, "", given.size > 0 ? `#${given}` : location.pathname);
  }
  return heldToken();
}

export function heldToken(): string | null {
  return sessionStorage.getItem(KEY);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(KEY);
}

export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, headers = {}, signal = null } = options;
  const init = {
    method,
    signal,
    headers: {
      authorization: `Bearer ${heldToken() ?? ""}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  for (let tries = 0;; tries++) {
    const response = await reach(path, init);
    if (response.ok) return response;
    if (response.status === 401) dispatchEvent(new Event(REFUSED));
    const wait = Number(response.headers.get("retry-after") ?? 0);
    const { detail = `Cannot use the server: it responded with status ${response.status}; try again` } =
      await problemOf(response);
    const soon = response.status === 429 && wait > 0 && wait <= SOON_S;
    if (!soon || method !== "GET" || tries === 2) {
      throw new Refused(response.status, detail);
    }
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}

async function problemOf(response: Response): Promise<{ readonly detail?: string }> {
  return await response.json().catch(() => ({}));
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error("Cannot reach the server: the connection failed; try again");
  }
}

/** The caller chooses `T` to match the schema of the route; no code checks the match. */
export async function json<T>(path: string, options?: RequestOptions): Promise<T> {
  return await (await request(path, options)).json();
}

export function inApi(...parts: readonly string[]): string {
  return `/api/v1/${parts.map(encodeURIComponent).join("/")}`;
}

const PAUSES_MS = [250, 1000, 2000, 4000, 8000];

interface Followed {
  readonly conversation: string;
  /** If `response` begins the query, its first event has the id. */
  readonly queryId?: string;
  readonly response?: Response;
  /** Aborts when the page no longer shows the result. The abort ends the connection, but the query continues. */
  readonly signal: AbortSignal;
  lost(is: boolean): void;
}

interface Seen {
  queryId: string | null;
  id: string;
  over: boolean;
}

/** Throws if the server refuses for a lasting reason, or if the connection ends before the page knows the id of the
 * query. */
export async function* queryEvents(followed: Followed): AsyncGenerator<readonly QueryEvent[]> {
  const { signal, lost } = followed;
  const seen: Seen = { queryId: followed.queryId ?? null, id: "", over: false };
  let current = followed.response;
  for (let tries = 0; !seen.over; tries++) {
    try {
      current ??= await follow(followed, seen);
      for await (const events of eventsOf(current, seen, signal)) {
        if (tries > 0) lost(false);
        tries = 0;
        yield events;
        if (seen.over) return;
      }
    } catch (error) {
      if (error instanceof Refused && !error.isPassing) throw error;
    }
    if (signal.aborted) return;
    current = undefined;
    if (seen.queryId === null) {
      throw new Error("Cannot follow the request: the connection ended before its first event; reload the page");
    }
    lost(true);
    await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[tries] ?? PAUSES_MS.at(-1)));
  }
}

async function follow({ conversation, signal }: Followed, { queryId, id }: Seen): Promise<Response> {
  const path = inApi("conversations", conversation, "queries", queryId ?? "", "events");
  return await request(path, {
    signal,
    headers: { accept: "text/event-stream", ...(id ? { "last-event-id": id } : {}) },
  });
}

async function* eventsOf(
  { body }: Response,
  seen: Seen,
  signal: AbortSignal,
): AsyncGenerator<readonly QueryEvent[]> {
  if (body === null) return;
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  const reader = body.pipeThrough(decoder, { signal }).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    const events = parts.flatMap((part) => eventOf(part, seen));
    if (events.length > 0) yield events;
  }
}

function eventOf(part: string, seen: Seen): readonly QueryEvent[] {
  const data = /^data: (.*)$/m.exec(part)?.[1];
  if (data === undefined || seen.over) return [];
  const event: QueryEvent = JSON.parse(data);
  seen.queryId ??= event.queryId;
  seen.id = /^id: (.*)$/m.exec(part)?.[1] ?? "";
  seen.over = isOwnEnd(event) && event.queryId === seen.queryId;
  return [event];
}

export type ApiConversationList = z.infer<typeof schema.ConversationListSchema>;

export type ApiListedConversation = ApiConversationList["items"][number];

export type ConversationDetail = z.infer<typeof schema.ConversationDetailSchema>;

export type ApiConversation = z.infer<typeof schema.ConversationSchema>;

export type ApiServer = z.infer<typeof schema.ServerSchema>;

export type ApiModelList = z.infer<typeof schema.ModelListSchema>;

export type ApiFileList = z.infer<typeof schema.FileListSchema>;

export type ApiPromptList = z.infer<typeof schema.PromptListSchema>;

export interface ApiMarkdown {
  readonly trees: readonly (readonly MarkdownBlock[])[];
}

export type UndoPreview = z.infer<typeof schema.UndoPreviewSchema>;

export type ApiQuery = z.infer<typeof schema.QuerySchema> & Pick<TurnEnd, "answerTree">;

export type Graph = z.infer<typeof schema.GraphSchema>;

export type ApiSearchHit = z.infer<typeof SearchHitSchema>;

export type ApiMessage = z.infer<typeof schema.MessagesSchema>["messages"][number];

export type ApiVersion = z.infer<typeof schema.VersionSchema>;

export type Variable = z.infer<typeof schema.VariableSchema> & { readonly summary: { readonly shape?: string } };

type QueryRow = z.infer<typeof schema.QuerySchema>;

type Ending =
  | "status"
  | "reason"
  | "answer"
  | "answerType"
  | "confidence"
  | "iterations"
  | "costUsd"
  | "ms"
  | "noAnswer";

export interface TurnEnd extends Readonly<Pick<QueryRow, Ending>> {
  readonly usage: Pick<Usage, "input" | "output" | "estimated">;
  readonly notes: readonly string[];
  readonly work?: Work | undefined;
  /** Undefined means that the page does not know yet whether the answer is Markdown. */
  readonly answerTree?: readonly MarkdownBlock[] | null;
}

export interface StepMetadata {
  readonly diffs?: readonly BlockDiff[];
  readonly outcome?: string;
  readonly pendingBlocks?: readonly string[];
  readonly walls?: {
    readonly realm: boolean;
    readonly permissions: boolean;
    readonly process: boolean;
    readonly kernel: { readonly landlock: number; readonly seccomp: boolean };
    readonly failed: readonly string[];
  } | null;
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  readonly extensions?: readonly { readonly namespace: string; readonly version: string }[];
  readonly notes?: readonly string[];
  readonly asked?: readonly string[];
  readonly costUsd?: number | null;
  readonly requestBytes?: number;
  readonly budget?: unknown;
}

type Stored = z.infer<typeof schema.IterationSchema>;

export interface Iteration extends Omit<Stored, "blocks" | "traces" | "metadata"> {
  readonly blocks: readonly {
    readonly code: string;
    readonly result: BlockResult;
    readonly reads: readonly string[];
  }[];
  readonly traces: readonly ModelTrace[];
  readonly metadata: StepMetadata;
}

export interface QueryPage {
  readonly items: readonly ApiQuery[];
  readonly before: number;
}
