import type { Image } from "../domain/images/image.ts";
import type { AnswerSchema } from "./schema/answer_schema.ts";

/** What comes with a request beside its text. */
export interface RequestExtras {
  /** Sent with the request, in this query only. */
  readonly images: readonly Image[];
  /** What the answer must satisfy, null where anything will do. */
  readonly answerSchema: AnswerSchema | null;
}

export const NO_EXTRAS: RequestExtras = { images: [], answerSchema: null };
