import assert from "node:assert/strict";
import { runs } from "../helpers/long_part.ts";
import { programsIn, readCorpus } from "./corpus/read_corpus.ts";
import { KNOWN } from "./corpus/known.ts";
import { differencesOf } from "./programs/compare.ts";
import { isKnown, type Program } from "./programs/program.ts";
import { explanationOf } from "./programs/explained.ts";
import { spread } from "./programs/read_folder.ts";
import { differenceText } from "./programs/suite_table.ts";

const COUNT = runs(250, 1000);

/** Returns the programs with known differences, and others of every topic. */
function chosen(all: readonly Program[]): readonly Program[] {
  const known = all.filter((program) => program.known);
  return [...known, ...spread(all.filter((program) => !program.known), COUNT - known.length)];
}

Deno.test("readCorpus() has a thousand programs, each once, and uses every known difference", () => {
  const all = readCorpus();
  const texts = new Set(all.map(({ text, value, language }) => JSON.stringify([text, value, language])));
  assert.equal(texts.size, all.length);
  assert.ok(all.length >= 1000);
  assert.deepEqual(new Set(all.flatMap(({ known }) => known ? [known.key] : [])), new Set(Object.keys(KNOWN)));
});

Deno.test("programsIn() makes a program of each choice", () => {
  const programs = programsIn("t", "# note\n{console only top} let a = ⟦1¦2⟧⏎a++ ▸ [a, ⟦a⟧]\n» throw 1\n[1]");
  assert.deepEqual(programs.map(({ name, text, value, known }) => [name, text, value, known?.places]), [
    ["t:2", "let a = 1\na++", "[a, a]", ["top"]],
    ["t:2.1", "let a = 2\na++", "[a, a]", ["top"]],
    ["t:3", "throw 1", undefined, undefined],
    ["t:4", "", "[1]", undefined],
  ]);
});

Deno.test("programs of the corpus have the same results in the sandbox and in plain Deno, except for known differences", async () => {
  const programs = chosen(readCorpus());
  assert.equal(programs.length, COUNT);
  const found = await differencesOf(programs, {
    batch: 250,
    deadlineMs: 30_000,
    isExpected: (one) => isKnown(one) || Boolean(explanationOf(one)),
  });
  const unexplained = found.filter((one) => !explanationOf(one));
  const surprising = unexplained.filter((one) => !isKnown(one));
  assert.equal(surprising.map(differenceText).join("\n\n"), "");
  const differ = new Set(unexplained.map(({ program, place }) => `${program.name} ${place}`));
  const known = programs.flatMap(({ name, known }) => known?.places.map((place) => `${name} ${place}`) ?? []);
  assert.deepEqual(known.filter((one) => !differ.has(one)), [], "equal now: remove the mark in the corpus");
});
