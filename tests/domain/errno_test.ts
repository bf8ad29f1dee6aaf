import assert from "node:assert/strict";
import { constants } from "node:os";
import { errnoText } from "../../src/domain/errors.ts";

Deno.test("errnoText() gives each number the name that Linux gives it, and other numbers as they are", {
  ignore: Deno.build.os !== "linux",
}, () => {
  const numbers = new Map(Object.entries(constants.errno).map(([name, number]) => [name, Number(number)]));
  const named = Array.from({ length: 134 }, (_, number) => number).filter((one) => !/^errno/.test(errnoText(one)));
  assert.ok(named.length >= 30);
  for (const number of named) {
    const [, name = "", words = ""] = /^(E[0-9A-Z]+): (.+)$/.exec(errnoText(number)) ?? [];
    // The runtime does not know EUSERS.
    assert.equal(numbers.get(name) ?? (name === "EUSERS" ? 87 : undefined), number, name);
    assert.notEqual(words, "");
  }
  assert.equal(errnoText(1), "EPERM: operation not permitted");
  assert.equal(errnoText(999), "errno 999");
});
