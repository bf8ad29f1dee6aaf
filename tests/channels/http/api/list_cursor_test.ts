import assert from "node:assert/strict";
import { cursorText, readCursor } from "../../../../src/channels/http/api/list_cursor.ts";

Deno.test("readCursor() reads what cursorText() has made and nothing else", () => {
  for (const place of [0, 17, 2 ** 40]) {
    const text = cursorText(place);
    assert.match(text, /^[\w-]+$/, "it needs no escape in an address");
    assert.deepEqual(readCursor(text), place);
  }
  const made = (value: unknown): string => btoa(JSON.stringify(value)).replace(/=+$/, "");
  const wrong = [
    ...["", "x", "%00", made(null), made({}), made([]), made([1, 2])],
    ...[made(["1"]), made([1.5]), made([1e300]), made(["'; drop table log"])],
  ];
  for (const text of wrong) assert.throws(() => readCursor(text), { status: 400 }, text);
});
