import { Buffer } from "node:buffer";
import type { ListPlace } from "../../domain/conversation_care.ts";
import { Problem } from "./problem.ts";

/** A place in the list of conversations as a text that clients pass on unread. What is added or moves to the front while
 * they do shifts nothing. */
export function cursorText({ at, query, conversationId }: ListPlace): string {
  return Buffer.from(JSON.stringify([at, query, conversationId])).toString("base64url");
}

/** Throws `Problem` (400) for what `cursorText` has not made. */
export function readCursor(cursor: string): ListPlace {
  const [at, query, conversationId, ...more] = values(cursor);
  const isPlace = Number.isSafeInteger(at) && isId(query) && isId(conversationId) && more.length === 0;
  if (isPlace) return { at: Number(at), query: String(query), conversationId: String(conversationId) };
  throw new Problem("Cannot use the cursor: it must be the next of a page", {
    kind: "bad-request",
    errors: [{ path: "cursor", message: "It must be the next of a page" }],
  });
}

function values(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function isId(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f-]{0,36}$/.test(value);
}
