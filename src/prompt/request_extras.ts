import type { Image } from "../domain/images/image.ts";
import type { AnswerSchema } from "./schema/answer_schema.ts";

/** What a request contains besides its text. */
export interface RequestExtras {
  /** Sent with the request, in this query only. */
  readonly images: readonly Image[];
  /** What the answer must satisfy; null if there is no requirement. */
  readonly answerSchema: AnswerSchema | null;
}

export const NO_EXTRAS: RequestExtras = { images: [], answerSchema: null };
