import assert from "node:assert/strict";
import fc from "fast-check";
import { ago, localTime } from "../../../src/domain/text/ago.ts";

Deno.test("localTime() is the time of the clock on the wall", () => {
  const days = fc.date({ min: new Date(1970, 0, 2), max: new Date(2200, 0, 1), noInvalidDate: true });
  const two = (part: number, size = 2): string => String(part).padStart(size, "0");
  fc.assert(fc.property(days, (at) => {
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const minute = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
    const second = `${minute}:${two(at.getSeconds())}`;
    assert.deepEqual(
      (["day", "minute", "second", "ms"] as const).map((to) => localTime(at.getTime(), to)),
      [day, minute, second, `${second}.${two(at.getMilliseconds(), 3)}`],
    );
    assert.equal(ago(at.getTime(), at.getTime() + 31 * 86_400_000), day);
  }));
});
