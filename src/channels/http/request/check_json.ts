import { type JsonLimits, JsonMeter, JsonTooLarge } from "../../../domain/text/read_foreign_json.ts";
import { Problem } from "../response/problem.ts";

const LIMITS: JsonLimits = { values: 100_000, depth: 200 };

/** Checks JSON before it is parsed. Throws `Problem` if it is too deep (400) or has too many values (413). */
export function checkJson(text: string): void {
  try {
    new JsonMeter(LIMITS).push(text);
  } catch (error) {
    if (!(error instanceof JsonTooLarge)) throw error;
    const kind = error.limit === "depth" ? "bad-request" : "too-large";
    throw new Problem(`Cannot read the body: ${error.what}`, { kind });
  }
}
