import { inApi, Refused, request } from "./api.js";

const PAUSES_MS = [250, 1000, 2000, 4000, 8000];

/** The events of one query, from the response that began it or from its address. Reconnects after a lost connection,
 * however long that takes, until `wants` returns false; `lost` is called when the connection is lost and when it is
 * restored. */
export async function* queryEvents({ conversation, queryId, response, wants, lost }) {
  const seen = { queryId, id: "", over: false };
  let current = response;
  for (let tries = 0; !seen.over; tries++) {
    try {
      current ??= await follow(conversation, seen);
      for await (const { id, event } of events(current.body)) {
        if (tries > 0) lost(false);
        tries = 0;
        seen.queryId ??= event.queryId;
        seen.id = id;
        seen.over = isEnd(event, seen.queryId);
        yield event;
        if (seen.over) return;
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    }
    current = undefined;
    if (!seen.queryId) throw new Error("The connection was lost before the request started");
    if (!wants()) return;
    lost(true);
    await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[tries] ?? PAUSES_MS.at(-1)));
  }
}

function isEnd({ type, queryId, parentQueryId }, own) {
  return ["final", "failed", "cancelled"].includes(type) && queryId === own && parentQueryId === undefined;
}

async function follow(conversation, { queryId, id }) {
  const path = inApi("conversations", conversation, "queries", queryId, "events");
  return await request(path, { headers: { accept: "text/event-stream", ...(id ? { "last-event-id": id } : {}) } });
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (data) yield { id: /^id: (.*)$/m.exec(part)?.[1] ?? "", event: JSON.parse(data) };
    }
  }
}
