import { BoundedMap, exactJson, readForeignJson } from "@vis/extension";
import { exactText } from "./exact_json.ts";

type Fields = Readonly<Record<string, unknown>>;
type Asked = Readonly<{ id: unknown; method: string }>;

interface Reading {
  readonly only?: unknown;
  readonly exact: () => unknown;
}

const MOST_WAITING = 10_000, MOST_RESULTS = 1_000;
const INVALID_REQUEST = -32600, METHOD_NOT_FOUND = -32601, INTERNAL_ERROR = -32603;
const WHOLE = "whole";

/** The library refuses a whole message for one null or one excess key. A refused result of a tool would make the model
 * call the tool again. */
export class ServerMessages {
  readonly #waiting = new BoundedMap<string, Asked>(MOST_WAITING);
  readonly #results = new BoundedMap<number, unknown>(MOST_RESULTS);
  #resultCount = 0;
  #hasNotified = false;

  sent(message: unknown): void {
    const { id, method, params } = fieldsOf(message);
    if (method === "notifications/cancelled") this.#waiting.delete(String(fieldsOf(params)["requestId"]));
    if (typeof method !== "string") return;
    if (id === undefined) this.#hasNotified = true;
    else this.#waiting.set(String(id), { id, method });
  }

  waits(id: unknown): boolean {
    return this.#waiting.has(String(id));
  }

  /** `only` is the id of the only request that the text can answer. */
  read(text: string, only?: unknown): unknown {
    const message = readForeignJson(text, MESSAGE_LIMITS);
    const exact = (): unknown => exactJson(text, message);
    if (!Array.isArray(message)) return this.#readable(message, { only, exact });
    return message.map((one, at) => this.#readable(one, { only, exact: () => Reflect.get(Object(exact()), at) }))
      .filter((one) => one !== null);
  }

  whole({ structuredContent }: { readonly structuredContent?: unknown }): unknown {
    const key = Number(fieldsOf(structuredContent)[WHOLE]);
    const result = this.#results.get(key);
    this.#results.delete(key);
    return result;
  }

  #readable(message: unknown, { only, exact }: Reading): unknown {
    const { jsonrpc, id, method, params, result, error } = fieldsOf(message);
    if (typeof method === "string") {
      return {
        jsonrpc: "2.0",
        method,
        ...id == null ? {} : { id },
        ...params == null ? {} : { params: noNulls(params) },
      };
    }
    // Some servers omit the result of a method that returns nothing.
    const isEmpty = id == null ? jsonrpc === "2.0" && only !== undefined : this.waits(id);
    if (result === undefined && error === undefined && !isEmpty) return message;
    const isError = result == null && error != null;
    if (isError && only === undefined && !this.#isAnswer(id, error)) return null;
    const asked = this.#take(id ?? only);
    if (isError) return { jsonrpc: "2.0", id: asked.id, error: plainError(error) };
    if (asked.method === "tools/call" && fieldsOf(result)["resultType"] !== "input_required") {
      this.#results.set(++this.#resultCount, fieldsOf(exact())["result"] ?? null);
      const known = { resultType: "complete", content: [], structuredContent: { [WHOLE]: this.#resultCount } };
      return { jsonrpc: "2.0", id: asked.id, result: known };
    }
    return { jsonrpc: "2.0", id: asked.id, result: plainResult(result, asked.method) };
  }

  /** A notification has no id, but some servers answer a notification with an error, which would fail the waiting
   * request. */
  #isAnswer(id: unknown, error: unknown): boolean {
    if (id != null) return this.waits(id);
    const { code, message } = fieldsOf(error);
    const isOfNotification = code === INVALID_REQUEST || code === METHOD_NOT_FOUND ||
      String(message).includes("notifications/");
    return this.#waiting.size === 1 && !(this.#hasNotified && isOfNotification);
  }

  #take(id: unknown): Asked {
    const [single] = this.#waiting.size === 1 ? this.#waiting.keys() : [];
    const key = id == null ? single : String(id);
    const found = key === undefined ? undefined : this.#waiting.get(key);
    if (key !== undefined) this.#waiting.delete(key);
    return found ?? { id, method: "" };
  }
}

function plainResult(result: unknown, method: string): unknown {
  // A null in the schema of a tool has a meaning, so it stays.
  const plain = fieldsOf(method === "tools/list" ? withoutNulls(result) : noNulls(result ?? {}));
  const { nextCursor, ...rest } = plain;
  // Some servers write an empty cursor on the last page.
  return nextCursor === "" ? rest : plain;
}

function plainError(error: unknown): unknown {
  const { code, message, data } = fieldsOf(error);
  const text = typeof message === "string" ? message : typeof error === "string" ? error : JSON.stringify(error);
  const plain = { code: Number.isInteger(code) ? code : INTERNAL_ERROR, message: text };
  return data === undefined ? plain : { ...plain, data };
}

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

type ToolResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mimeType: string; readonly bytes: Uint8Array }
  | {
    readonly type: "resource";
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly bytes?: Uint8Array;
  }
  | { readonly type: "link"; readonly uri: string; readonly name: string; readonly mimeType?: string }
  | { readonly type: unknown; readonly [key: string]: unknown };

const PROTOCOL_KEYS = ["content", "structuredContent", "isError", "_meta", "resultType"];

export function toolData(result: unknown): unknown {
  const { content, structuredContent, ...rest } = fields(result);
  const data = structuredContent ?? undefined;
  if (content == null && data === undefined) return ownData(result, rest);
  const pieces = piecesOf(content);
  const text = textOf(pieces);
  if (!pieces.every(isText)) return data === undefined ? pieces : { data, content: pieces };
  const isEmpty = typeof data === "object" && data !== null && !Array.isArray(data) && Object.keys(data).length === 0;
  return data === undefined || isEmpty && text !== "" ? parsed(text) : data;
}

function ownData(result: unknown, rest: Fields): unknown {
  if (typeof result === "string") return parsed(result);
  if (typeof result !== "object" || result === null || Array.isArray(result)) return result ?? null;
  const own = Object.entries(rest).filter(([key]) => !PROTOCOL_KEYS.includes(key));
  return own.length === 0 ? "" : Object.fromEntries(own);
}

export function resultMessage(result: unknown): string {
  const { content, structuredContent, ...rest } = fields(result);
  const said = textOf(piecesOf(content)).trim();
  const data = structuredContent ?? (said === "" ? content ?? ownData(result, rest) : null);
  const more = data === null || Array.isArray(data) && data.length === 0 ? "" : textFor(data);
  const isSame = more === said || textFor(parsed(said)) === more;
  return isSame ? said : [said, more].filter((one) => one !== "").join("\n");
}

/** Some servers send one part, or a text, instead of a list. */
export function piecesOf(content: unknown): readonly ToolResultPart[] {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => part == null ? [] : [pieceOf(part)]);
}

export function resourcePiece(value: unknown): ToolResultPart {
  const { uri, mimeType, text, blob } = fields(value);
  return {
    type: "resource",
    uri: textFor(uri),
    ...(typeof mimeType === "string" ? { mimeType } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(typeof blob === "string" ? bytesOf(blob) ?? { blob } : {}),
  };
}

function pieceOf(value: unknown): ToolResultPart {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { type: "text", text: textFor(value) };
  }
  const { type, text, data, mimeType, resource, uri, name } = fields(value);
  const kind = typeof mimeType === "string" ? mimeType : "";
  if (type === "text") return { type, text: textFor(text) };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    const decoded = bytesOf(data);
    if (decoded) return { type, mimeType: kind, ...decoded };
  }
  if (type === "resource" && typeof resource === "object" && resource !== null) return resourcePiece(resource);
  if (type === "resource_link") {
    const own = kind === "" ? {} : { mimeType: kind };
    return { type: "link", uri: textFor(uri), name: textFor(name), ...own };
  }
  return { ...fields(value), type: type ?? "unknown" };
}

function textFor(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "" : exactText(value);
}

function isText(piece: ToolResultPart): piece is { readonly type: "text"; readonly text: string } {
  return piece.type === "text";
}

function textOf(pieces: readonly ToolResultPart[]): string {
  return pieces.flatMap((piece) => isText(piece) ? [piece.text] : []).join("\n");
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return exactJson(text, readForeignJson(text, MESSAGE_LIMITS));
  } catch {
    return text;
  }
}

function bytesOf(text: string): { readonly bytes: Uint8Array } | null {
  const base64 = text.replace(/^data:[^,]*,/, "").replaceAll("-", "+").replaceAll("_", "/");
  try {
    return { bytes: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
  } catch {
    return null;
  }
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}

const MESSAGE_LIMITS = { values: 400_000, depth: 500 };
