import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { rowChecksum } from "../../../src/persistence/schema/checksum.ts";
import { ChecksumFunctions } from "../../../src/persistence/schema/checksum_functions.ts";
import { Damage } from "../../../src/persistence/schema/damage.ts";

Deno.test("checksum functions compare integers that are too large for a number, and end their statement", () => {
  const db = new DatabaseSync(":memory:");
  const functions = new ChecksumFunctions(db);
  const compared = (cells: string, sum: number) => [
    ...db.prepare(`SELECT intact('subCall', ${sum}, ${cells}) AS intact`).iterate(),
  ];
  const sum = rowChecksum("subCall", ["a", 7, 0.5, null]);
  assert.equal(compared("'a', 7, 0.5, NULL", sum).length, 1);
  functions.throwFound();
  for (const large of ["9223372036854775807", "-9007199254740993"]) {
    assert.equal(compared(`'a', ${large}, 0.5, NULL`, sum).length, 1);
    assert.throws(() => functions.throwFound(), Damage);
  }
  db.close();
});
