import type { Image } from "../domain/images.ts";
import type { ReplyExample } from "../extension/spec.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ContextParts } from "./context/context_parts.ts";
import { renderContext } from "./context/render_context.ts";
import type { AnswerSchema } from "./schema/answer_schema.ts";
import { replyFormat } from "./system_prompt.ts";

/* Everything that a model reads, and how its reply is read: pure functions without state.
 *
 * A call has four messages, which `callMessages` puts together:
 *   1. the instructions, `system_prompt.ts`: fixed text, the environment, the blocks of the extensions;
 *   2. the request, with its images;
 *   3. the form of a reply, `system_prompt.ts`, and the schema of the answer, `schema/`;
 *   4. the context, `context/`: it begins with its parts (`context_parts.ts`), then `render_context.ts`, `journal.ts` for
 *      blocks and attempts, `variable_index.ts`; its nudges are in `nudges.ts`.
 * A reply is read by `reply/`: `reply.ts` says what it is, `parse_reply.ts` reads it whole, `stream_reply.ts` while it
 * arrives. `refused_answer.ts` says which answers do not end a query. */

/** What a request contains besides its text. */
export interface RequestExtras {
  /** Sent with the request, in this query only. */
  readonly images: readonly Image[];
  /** What the answer must satisfy; null if there is no requirement. */
  readonly answerSchema: AnswerSchema | null;
}

export const NO_EXTRAS: RequestExtras = { images: [], answerSchema: null };

/** The start of every call of a query, and the requirements for its answers. Byte-identical throughout the query: the
 * provider's prefix cache depends on it. */
export interface CallPrefix {
  readonly system: string;
  readonly request: string;
  readonly extras: RequestExtras;
  readonly example?: ReplyExample | undefined;
}

/** The messages of one call. The loop and `vis prompt` use this function, and nothing else builds messages. The first
 * three are byte-identical in all iterations of a query, so that prefix caches stay valid; only the context changes.
 * With `alternatingRoles`, the same texts form one user message. */
export function callMessages(
  { system, request, extras: { images, answerSchema }, example }: CallPrefix,
  { context, alternatingRoles }: { readonly context: ContextParts; readonly alternatingRoles: boolean },
): ModelMessage[] {
  const format = [replyFormat(example), ...(answerSchema ? [answerSchema.instructions] : [])].join("\n\n");
  const changing = renderContext(context);
  const shown = images.length > 0 ? { images } : {};
  if (alternatingRoles) {
    return [{ role: "user", text: [system, request, format, changing].join("\n\n"), ...shown }];
  }
  return [
    { role: "system", text: system },
    { role: "user", text: request, ...shown },
    { role: "user", text: format, cache: true },
    { role: "user", text: changing },
  ];
}
