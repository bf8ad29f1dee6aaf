import { z } from "zod";

const positive = z.int().positive();

export const ShownLimits = z.strictObject({
  journalChars: positive.default(24_000).describe(
    "Maximum length of the journal in characters. At the limit, Vis shortens the longest code, results and output. If a step has more than 100 blocks, Vis omits the middle ones",
  ),
  earlierChars: positive.default(6_000).describe(
    "Maximum length of the journal and earlier results together, in characters. If the journal has at most 1000 characters, the maximum doubles; after a failed block, journalChars is the maximum. At the limit, Vis omits the oldest results",
  ),
  previewChars: positive.default(24_000).describe(
    "Maximum length of a value in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  stdoutChars: positive.default(24_000).describe(
    "Maximum length of a block's output in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  stderrChars: positive.default(24_000).describe(
    "Maximum length of a block's error output in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  errorChars: positive.default(2_000).describe(
    "Maximum length of an error in the journal, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  thinkingChars: positive.default(4_000).describe(
    "Maximum length of the latest thinking of earlier steps, in characters. At the limit, Vis shows the model only the beginning and the end",
  ),
  attempts: positive.default(12).describe(
    "Maximum number of lines about earlier steps in the context message. At the limit, Vis shows the model only the newest lines",
  ),
  indexRows: positive.default(150).describe(
    "Maximum number of rows of the variable index. At the limit, Vis shows the model only names of the other variables; vars() lists all variables",
  ),
  indexChars: positive.default(12_000).describe(
    "Maximum length of the variable index in characters. At the limit, Vis shows the model only names of the other variables; vars() lists all variables",
  ),
  inlineChars: positive.default(120).describe(
    "Maximum length of a value that the variable index shows in full, in characters. At the limit, the index shows only the type and the size of the value",
  ),
  attemptsChars: positive.default(1_500).describe(
    "Maximum length of the lines about earlier steps, in characters. At the limit, Vis shows the model only the newest lines",
  ),
  notesChars: positive.default(3_000).describe(
    "Maximum length of the notes in characters. At the limit, Vis shows the model only the beginning and the end of the longest notes",
  ),
}).prefault({}).meta({ project: true });
