import { z } from "zod";

const positive = z.int().positive();

export const ShownLimits = z.strictObject({
  journalChars: positive.default(24_000).describe(
    "Maximum length of the journal in characters. At the limit, the longest code, results and output are shortened; of more than 100 blocks, the middle ones are omitted",
  ),
  earlierChars: positive.default(6_000).describe(
    "Maximum length of the journal and earlier results together, in characters; twice as long after a short journal, and journalChars after a failed block. At the limit, the oldest results are omitted",
  ),
  previewChars: positive.default(24_000).describe(
    "Maximum length of a value in the journal, in characters. At the limit, its beginning and end are shown",
  ),
  stdoutChars: positive.default(24_000).describe(
    "Maximum length of a block's output in the journal, in characters. At the limit, its beginning and end are shown",
  ),
  stderrChars: positive.default(24_000).describe(
    "Maximum length of a block's error output in the journal, in characters. At the limit, its beginning and end are shown",
  ),
  errorChars: positive.default(2_000).describe(
    "Maximum length of an error in the journal, in characters. At the limit, its beginning and end are shown",
  ),
  thinkingChars: positive.default(4_000).describe(
    "Maximum length of earlier thinking in characters. At the limit, its beginning and end are shown",
  ),
  attempts: positive.default(12).describe(
    "Maximum number of lines about earlier steps. At the limit, only the newest are shown",
  ),
  indexRows: positive.default(150).describe(
    "Maximum number of rows of the variable index. At the limit, the others are counted; vars() lists them",
  ),
  indexChars: positive.default(12_000).describe(
    "Maximum length of the variable index in characters. At the limit, the rows that do not fit are counted; vars() lists them",
  ),
  inlineChars: positive.default(120).describe(
    "Maximum length of a value that the variable index shows in full, in characters. At the limit, a value is described by its type and size",
  ),
  attemptsChars: positive.default(1_500).describe(
    "Maximum length of the lines about earlier steps, in characters. At the limit, only the newest are shown",
  ),
  notesChars: positive.default(3_000).describe(
    "Maximum length of the notes in characters. At the limit, the longest notes are shown with their beginning and end",
  ),
}).prefault({}).meta({ project: true });
