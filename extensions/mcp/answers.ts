import { BoundedMap } from "@vis/extension";

type Fields = Readonly<Record<string, unknown>>;
type Asked = Readonly<{ id: unknown; method: string }>;

/** Requests that never get an answer are forgotten. */
const MOST_WAITING = 10_000;
const INTERNAL_ERROR = -32603;
const WHOLE = "whole";

/** Makes the messages of a server readable for the library, which refuses a whole message for one null or one key too
 * many. The result of a tool call passes by its checks: the tool has run, and a refusal would make the model call it
 * again. `wholeResult` returns that result. */
export class Answers {
  /** The requests that wait, by their ids as text. */
  readonly #waiting = new BoundedMap<string, Asked>(MOST_WAITING);

  /** Takes each message that is sent. */
  sent(message: unknown): void {
    const { id, method, params } = fieldsOf(message);
    if (method === "notifications/cancelled") this.#waiting.delete(String(fieldsOf(params)["requestId"]));
    else if (typeof method === "string" && id !== undefined) this.#waiting.set(String(id), { id, method });
  }

  /** Whether the request still waits for its answer. */
  waits(id: unknown): boolean {
    return this.#waiting.has(String(id));
  }

  /** The message, or the list of messages, as the library reads it. `only` is the id of the one request that the
   * message can answer. */
  readable(message: unknown, only?: unknown): unknown {
    if (Array.isArray(message)) return message.map((one) => this.readable(one, only));
    const { jsonrpc, id, method, params, result, error } = fieldsOf(message);
    if (typeof method === "string") {
      return {
        jsonrpc: "2.0",
        method,
        ...id == null ? {} : { id },
        ...params == null ? {} : { params: noNulls(params) },
      };
    }
    // Servers leave out the result of what returns nothing.
    const isEmpty = id == null ? jsonrpc === "2.0" && only !== undefined : this.waits(id);
    if (result === undefined && error === undefined && !isEmpty) return message;
    const asked = this.#take(id ?? only);
    if (result == null && error != null) return { jsonrpc: "2.0", id: asked.id, error: plainError(error) };
    return { jsonrpc: "2.0", id: asked.id, result: plainResult(result, asked.method) };
  }

  /** An answer without an id belongs to the only request that waits. */
  #take(id: unknown): Asked {
    const [single] = this.#waiting.size === 1 ? this.#waiting.keys() : [];
    const key = id == null ? single : String(id);
    const found = key === undefined ? undefined : this.#waiting.get(key);
    if (key !== undefined) this.#waiting.delete(key);
    return found ?? { id, method: "" };
  }
}

/** The result of a tool call as the server sent it, from the one that the library returned. */
export function wholeResult({ structuredContent }: { readonly structuredContent?: unknown }): unknown {
  return fieldsOf(structuredContent)[WHOLE];
}

function plainResult(result: unknown, method: string): unknown {
  if (method === "tools/call" && fieldsOf(result)["resultType"] !== "input_required") {
    return { resultType: "complete", content: [], structuredContent: { [WHOLE]: result ?? null } };
  }
  // A null within the schema of a tool has a meaning.
  return method === "tools/list" ? withoutNulls(result) : noNulls(result ?? {});
}

function plainError(error: unknown): unknown {
  const { code, message, data } = fieldsOf(error);
  const text = typeof message === "string" ? message : typeof error === "string" ? error : JSON.stringify(error);
  const plain = { code: Number.isInteger(code) ? code : INTERNAL_ERROR, message: text };
  return data === undefined ? plain : { ...plain, data };
}

/** Servers write null for a key that is absent. */
function noNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(noNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(withoutNulls(value)).map(([key, one]) => [key, noNulls(one)]));
}

function withoutNulls(value: unknown): object {
  return Object.fromEntries(Object.entries(fieldsOf(value)).filter(([, one]) => one !== null));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}
