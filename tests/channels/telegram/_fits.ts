import assert from "node:assert/strict";
import type { RichMessage } from "../../../src/channels/telegram/rich_text.ts";

/** Asserts Telegram's rules for a message: its length, entities within it and within each other, none of them through a
 * character, and none within code. */
export function fits({ text, entities }: RichMessage, limit: number): void {
  assert.ok(text.length <= limit, `${text.length} > ${limit}`);
  assert.ok(entities.length <= 100);
  assert.ok(text.isWellFormed(), "a surrogate pair was cut");
  for (const { offset, length } of entities) {
    assert.ok(offset >= 0 && length > 0 && offset + length <= text.length);
    for (const edge of [offset, offset + length]) {
      assert.ok(
        !/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(edge - 1, edge + 1)) || edge === 0,
        "through a pair",
      );
    }
  }
  for (const [at, a] of entities.entries()) {
    for (const b of entities.slice(at + 1)) {
      const apart = b.offset >= a.offset + a.length || a.offset >= b.offset + b.length;
      const within = b.offset >= a.offset && b.offset + b.length <= a.offset + a.length ||
        a.offset >= b.offset && a.offset + a.length <= b.offset + b.length;
      assert.ok(apart || within, `${JSON.stringify(a)} crosses ${JSON.stringify(b)}`);
      if (!apart) {
        assert.ok(![a, b].some(({ type }) => type === "pre") || [a, b].some(({ type }) => type === "blockquote"));
      }
    }
  }
}
