import assert from "node:assert/strict";
import { MissingVariableNotes } from "../../src/environment/variables.ts";

Deno.test("MissingVariableNotes reports a variable once, and again after a new version", () => {
  const notes = new MissingVariableNotes();
  const lost = [{ name: "hold", reason: "a closure", statement: "" }];
  notes.add(lost, () => "const hold = make()");
  assert.deepEqual(notes.take(), ["Cannot restore hold: a closure; to make it again, run const hold = make()"]);
  notes.add(lost, () => "");
  assert.deepEqual(notes.take(), []);
  notes.defined("hold");
  notes.add(lost, () => "");
  assert.equal(notes.take().length, 1);
});
