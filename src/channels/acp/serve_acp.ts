import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import type { Peer } from "../channel.ts";
import { acpAgent, type Prompts } from "./acp_agent.ts";
import { EditorSessions, type Open } from "./sessions.ts";

export function serveAcp(
  { open, prompts, version }: { readonly open: Open; readonly prompts: Prompts; readonly version: string },
  { readable, writable }: {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: WritableStream<Uint8Array>;
  },
): Peer {
  const sessions = new EditorSessions(open);
  const connection = acpAgent(sessions, { version, prompts }).connect(
    answeredStream(ndJsonStream(writable, readable), () => sessions.cancelAll()),
  );
  return {
    ended: connection.closed,
    close: async () => {
      connection.close();
      await sessions.close();
    },
  };
}

type Id = string | number | null;

/** A client may close stdin right after its requests, so the agent's input ends only after the responses. */
function answeredStream({ readable, writable }: Stream, cancel: () => void): Stream {
  const open = new Set<Id>(), asked = new Set<Id>();
  const answers = Promise.withResolvers<void>();
  let input: TransformStreamDefaultController<AnyMessage> | null = null, ended = false;
  const refuse = (id: Id): void => {
    asked.delete(id);
    input?.enqueue({
      jsonrpc: "2.0",
      id,
      error: { code: -32603, message: "Cannot ask the client: it has closed the stdin of Vis" },
    });
  };
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    start: (controller) => void (input = controller),
    transform: (message, controller) => {
      if (isRequest(message)) open.add(message.id);
      else if ("id" in message) asked.delete(message.id);
      controller.enqueue(message);
    },
    flush: async () => {
      ended = true;
      for (const id of asked) refuse(id);
      cancel();
      if (open.size > 0) await answers.promise;
    },
  });
  const output = writable.getWriter();
  const outgoing = new WritableStream<AnyMessage>({
    write: async (message) => {
      if (isRequest(message)) asked.add(message.id);
      // A failed write breaks the connection, so the input no longer waits for responses.
      await output.write(message).catch((error: unknown) => {
        answers.resolve();
        throw error;
      });
      if (isRequest(message)) {
        if (ended) refuse(message.id);
      } else if ("id" in message && open.delete(message.id) && ended && open.size === 0) answers.resolve();
    },
    close: () => output.close(),
    abort: (reason) => output.abort(reason),
  });
  return { readable: readable.pipeThrough(incoming), writable: outgoing };
}

/** The agent refuses a malformed request under the id null, so Vis waits for no response under the request's own id. */
function isRequest(message: AnyMessage): message is Extract<AnyMessage, { readonly method: string }> & { id: Id } {
  return message.jsonrpc === "2.0" && "method" in message && typeof message.method === "string" &&
    "id" in message && (message.id === null || typeof message.id === "string" || typeof message.id === "number");
}
