import type { Image } from "../domain/images/image.ts";
import type { ReplyExample } from "../extension/spec.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ContextParts } from "./context/context_parts.ts";
import { renderContext } from "./context/render_context.ts";
import { replyFormat } from "./reply/reply_format.ts";
import type { RequestExtras } from "./request_extras.ts";

/** The start of every call of a query, and the requirements for its answers. Byte-identical throughout the query: the
 * provider's prefix cache depends on it. */
export interface CallPrefix {
  readonly system: string;
  readonly request: string;
  readonly extras: RequestExtras;
  readonly example?: ReplyExample | undefined;
}

/** The messages of one call. Both the loop and `vis prompt` use this function, and nothing else builds messages. */
export function callMessages(
  { system, request, extras, example }: CallPrefix,
  { context, alternatingRoles }: { readonly context: ContextParts; readonly alternatingRoles: boolean },
): ModelMessage[] {
  const { images, answerSchema } = extras;
  const format = replyFormat(example);
  return assembleMessages({
    system,
    request,
    images,
    schema: answerSchema ? `${format}\n\n${answerSchema.instructions}` : format,
    context: renderContext(context),
    alternatingRoles,
  });
}

/** The messages of one call. The first three are byte-identical in all iterations of a query, so that prefix caches
 * stay valid; only `context` changes. With `alternatingRoles`, the same texts form one user message. */
export function assembleMessages(
  { system, request, images = [], schema, context, alternatingRoles }: {
    readonly system: string;
    readonly request: string;
    /** Sent with the request. */
    readonly images?: readonly Image[];
    readonly schema: string;
    readonly context: string;
    readonly alternatingRoles: boolean;
  },
): ModelMessage[] {
  const shown = images.length > 0 ? { images } : {};
  if (alternatingRoles) {
    return [{ role: "user", text: [system, request, schema, context].join("\n\n"), ...shown }];
  }
  return [
    { role: "system", text: system },
    { role: "user", text: request, ...shown },
    { role: "user", text: schema, cache: true },
    { role: "user", text: context },
  ];
}
