import { readForeignJson } from "@vis/extension";
import { MESSAGE_LIMITS } from "./message_limits.ts";

/** A server's result as data. A part that is not text keeps its type: `{type: "image", mimeType, bytes}`. */
export type ToolResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly mimeType: string; readonly bytes: Uint8Array }
  | {
    readonly type: "resource";
    readonly uri: string;
    readonly mimeType?: string;
    readonly text?: string;
    readonly bytes?: Uint8Array;
  }
  | { readonly type: "link"; readonly uri: string; readonly name: string; readonly mimeType?: string };

type Fields = Readonly<Record<string, unknown>>;

interface ToolResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
}

/** `structuredContent` if there is any, else text (parsed if it is JSON), else a list of parts. An empty object beside
 * text says nothing. */
export function toolData({ content, structuredContent: data }: ToolResult): unknown {
  const pieces = piecesOf(content);
  const text = textOf(pieces);
  if (!pieces.every(({ type }) => type === "text")) return data === undefined ? pieces : { data, content: pieces };
  const isEmpty = typeof data === "object" && data !== null && Object.keys(data).length === 0;
  return data === undefined || isEmpty && text !== "" ? parsed(text) : data;
}

/** What a result says of an error: its text, else its data. */
export function resultMessage({ content, structuredContent: data }: ToolResult): string {
  return textOf(piecesOf(content)) || (data === undefined ? "" : JSON.stringify(data));
}

export function piecesOf(content: unknown): readonly ToolResultPart[] {
  return Array.isArray(content) ? content.map(pieceOf).filter((piece) => piece !== null) : [];
}

/** The contents of a resource, standalone or embedded in a result. */
export function resourcePiece(value: unknown): ToolResultPart {
  const { uri, mimeType, text, blob } = fields(value);
  return {
    type: "resource",
    uri: String(uri ?? ""),
    ...(typeof mimeType === "string" ? { mimeType } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(typeof blob === "string" ? { bytes: bytesOf(blob) } : {}),
  };
}

function pieceOf(value: unknown): ToolResultPart | null {
  const { type, text, data, mimeType, resource, uri, name } = fields(value);
  const kind = typeof mimeType === "string" ? mimeType : "";
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type, mimeType: kind, bytes: bytesOf(data) };
  }
  if (type === "resource") return resourcePiece(resource);
  if (type === "resource_link") {
    const own = kind === "" ? {} : { mimeType: kind };
    return { type: "link", uri: String(uri ?? ""), name: String(name ?? ""), ...own };
  }
  return null;
}

function textOf(pieces: readonly ToolResultPart[]): string {
  return pieces.flatMap((piece) => piece.type === "text" ? [piece.text] : []).join("\n");
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return readForeignJson(text, MESSAGE_LIMITS);
  } catch {
    return text;
  }
}

/** Empty if it is not valid base64. */
function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}
