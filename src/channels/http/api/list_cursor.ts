import { Buffer } from "node:buffer";
import { jsonOrUndefined } from "../../../domain/text/json_or_undefined.ts";
import { Problem } from "../response/problem.ts";

/** Encodes a position in the list of conversations as an opaque string. Conversations that are added or move to the
 * front between pages do not shift it. */
export function cursorText(place: number): string {
  return Buffer.from(JSON.stringify([place])).toString("base64url");
}

/** Throws `Problem` (400) for a cursor that `cursorText` did not make. */
export function readCursor(cursor: string): number {
  const value = jsonOrUndefined(Buffer.from(cursor, "base64url").toString());
  const [place, ...more] = Array.isArray(value) ? value : [];
  if (typeof place === "number" && Number.isSafeInteger(place) && more.length === 0) return place;
  throw new Problem("Cannot use the cursor: it must be the value of next from a previous page", {
    kind: "bad-request",
    errors: [{ path: "cursor", message: "It must be the value of next from a previous page" }],
  });
}
