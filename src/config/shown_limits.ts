import { z } from "zod";

const positive = z.int().positive();

/** The setting `context`, which limits how much of each part a model is shown. */
export const ShownLimits = z.strictObject({
  journalChars: positive.default(24_000).describe(
    "Most characters of the journal. At the limit, the longest code, results and output are shortened; of more than 100 blocks, the middle ones are left out",
  ),
  earlierChars: positive.default(6_000).describe(
    "Most characters of the journal and earlier results together; twice as many after a short journal, journalChars after a block that failed. At the limit, the oldest results are left out",
  ),
  previewChars: positive.default(24_000).describe(
    "Most characters of one value in the journal. At the limit, its beginning and end are shown",
  ),
  stdoutChars: positive.default(24_000).describe(
    "Most characters of one block's output in the journal. At the limit, its beginning and end are shown",
  ),
  stderrChars: positive.default(24_000).describe(
    "Most characters of one block's error output in the journal. At the limit, its beginning and end are shown",
  ),
  errorChars: positive.default(2_000).describe(
    "Most characters of one error in the journal. At the limit, its beginning and end are shown",
  ),
  thinkingChars: positive.default(4_000).describe(
    "Most characters of earlier thinking. At the limit, its beginning and end are shown",
  ),
  attempts: positive.default(12).describe("Most lines about earlier steps. At the limit, only the newest are shown"),
  indexRows: positive.default(150).describe(
    "Most rows of the variable index. At the limit, the others are counted; vars() lists them",
  ),
  indexChars: positive.default(12_000).describe(
    "Most characters of the variable index. At the limit, the rows that do not fit are counted; vars() lists them",
  ),
  inlineChars: positive.default(120).describe(
    "Longest value that the variable index shows in full. At the limit, a value is described by its type and size",
  ),
  attemptsChars: positive.default(1_500).describe(
    "Most characters of the lines about earlier steps. At the limit, only the newest are shown",
  ),
  notesChars: positive.default(3_000).describe(
    "Most characters of the notes. At the limit, the longest notes are shown with their beginning and end",
  ),
}).prefault({}).meta({ project: true });
