import { z } from "zod";

const positive = z.int().positive();

/** How much of each thing a model is shown: the settings `context`. */
export const ShownLimits = z.strictObject({
  journalChars: positive.default(24_000).describe("Most characters of the journal"),
  earlierChars: positive.default(6_000).describe(
    "Most characters of the journal and results of earlier iterations together; twice as many after a brief journal, journalChars after a block that failed",
  ),
  previewChars: positive.default(24_000).describe("Most characters of one value in the journal"),
  stdoutChars: positive.default(24_000).describe("Most characters of one block's output in the journal"),
  stderrChars: positive.default(24_000).describe("Most characters of one block's error output in the journal"),
  errorChars: positive.default(2_000).describe("Most characters of one error in the journal"),
  thinkingChars: positive.default(4_000).describe("Most characters of the prior thinking"),
  attempts: positive.default(12).describe("Most lines about earlier iterations"),
  indexRows: positive.default(150).describe("Most rows of the variable index"),
  indexChars: positive.default(12_000).describe("Most characters of the variable index"),
  inlineChars: positive.default(120).describe("Longest value that the variable index shows whole"),
  attemptsChars: positive.default(1_500).describe("Most characters of the lines about earlier iterations"),
  notesChars: positive.default(3_000).describe("Most characters of the notes"),
}).prefault({}).meta({ project: true });
