/** What `describeReply` makes of the schema, written down so that the first request need not load the schema. A test
 * holds the two together. */
export const REPLY_FORMAT = `Reply with exactly one JSON object and nothing before or after it:
{
  "thinking"?: string  // a few lines; leave it out if you reason natively
  "code"?: {"expr": string, "timeMs"?: number}[]  // TypeScript blocks to run now; a last expression is the result
  "next"?: {"model"?: "cost" | "speed" | "intelligence", "reasoning"?: "quick" | "balanced" | "deep"}  // what the next iteration needs
  "final"?: {"answer": string, "answerType"?: "text" | "markdown", "confidence"?: "high" | "medium" | "low"}  // only when the request is answered; ends the work
}
Inside strings write a line feed as \\n, " as \\" and \\ as \\\\ (\\d as \\\\d). Never write results yourself: they come in the next message.
To work: {"thinking":"Need the call sites.","code":[{"expr":"const hits = await fs.grep(\\"parse_\\", \\"src\\")\\nhits.length","timeMs":3000}]}
To finish: {"final":{"answer":"{{hits.length}} call sites"}}`;
