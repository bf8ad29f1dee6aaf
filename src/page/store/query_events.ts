import { isOwnEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent } from "../../domain/query/query_schemas.ts";
import { inApi, Refused, request } from "./api.ts";

const PAUSES_MS = [250, 1000, 2000, 4000, 8000];

interface Followed {
  readonly conversation: string;
  /** Known from the first event on if `response` began the query. */
  readonly queryId?: string;
  readonly response?: Response;
  /** Aborted when nobody looks any more: the connection ends, the query goes on. */
  readonly signal: AbortSignal;
  /** Called when the connection is lost and when it is restored. */
  lost(is: boolean): void;
}

interface Seen {
  queryId: string | null;
  id: string;
  over: boolean;
}

/** The events of one query as they arrive, several at a time, from the response that began it or from its address.
 * Reconnects after a lost connection, however long that takes, until the signal is aborted. */
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
    if (seen.queryId === null) throw new Error("The connection was lost before the request started");
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
