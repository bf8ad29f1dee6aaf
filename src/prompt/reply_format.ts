/** What `describeReply` makes of the schema, written down so that the first request need not load the schema. A test
 * holds the two together. */
export const REPLY_FORMAT = `Reply with exactly one JSON object and nothing before or after it:
{
  "thinking"?: string  // why, in a few lines; leave it out if you reason natively
  "code"?: {  // blocks to run now, in order; [] when there is nothing to run
    "expr": string  // TypeScript to run; its last expression is the result
    "timeMs"?: number  // expected run time in milliseconds
  }[]
  "next"?: {  // what the next iteration needs
    "model"?: "cost" | "speed" | "intelligence"
    "reasoning"?: "quick" | "balanced" | "deep"
  }
  "final"?: {  // only when the request is answered; ends the work
    "answer": string  // text, {{template}} over your variables, or the name of one variable
    "answerType"?: "text" | "markdown"
    "confidence"?: "high" | "medium" | "low"
  }
}
Inside strings write a line feed as \\n, " as \\" and \\ as \\\\ (the pattern \\d becomes \\\\d). Never write results yourself: they come in the next message.
To work:   {"thinking":"Need the call sites; then count them per file.","code":[{"expr":"const hits = await fs.grep(\\"parse_\\", \\"src\\")\\nhits.length","timeMs":3000}]}
To finish: {"final":{"answer":"{{hits.length}} call sites","answerType":"text"}}`;
