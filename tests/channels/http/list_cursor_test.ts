import assert from "node:assert/strict";
import { cursorText, readCursor } from "../../../src/channels/http/list_cursor.ts";

Deno.test("readCursor() reads what cursorText() has made and nothing else", () => {
  const id = "01a2012c-6a15-74dd-a43d-282bca947540";
  for (const place of [{ at: 17, query: id, conversationId: id }, { at: 0, query: "", conversationId: id }]) {
    const text = cursorText(place);
    assert.match(text, /^[\w-]+$/, "it needs no escape in an address");
    assert.deepEqual(readCursor(text), place);
  }
  const made = (value: unknown): string => btoa(JSON.stringify(value)).replace(/=+$/, "");
  const wrong = [
    ...["", "x", "%00", made(null), made({}), made([]), made([1, id]), made([1, id, id, id])],
    ...[
      made(["1", id, id]),
      made([1.5, id, id]),
      made([1, id, "'; drop table log"]),
      made([1, 2, 3]),
      made([1e300, id, id]),
    ],
  ];
  for (const text of wrong) assert.throws(() => readCursor(text), { status: 400 }, text);
});
