import type { Store } from "../persistence/store/store.ts";
import type { AskOptions } from "./send_options.ts";

type Before = Pick<AskOptions, "images" | "given" | "instructions" | "responseSchema">;

/** The input of a query, for another run of it. */
export async function asBefore(queryId: string, store: Store): Promise<Before> {
  const [{ images, answerSchema, instructions }, given] = await Promise.all([
    store.queryExtras(queryId),
    store.givenImages(queryId),
  ]);
  const responseSchema: unknown = answerSchema === null ? undefined : JSON.parse(answerSchema);
  return { images, given, instructions, responseSchema };
}
