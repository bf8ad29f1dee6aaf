import type { ReplyExample } from "../extension/spec.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ContextParts } from "./context/context_parts.ts";
import { assembleMessages } from "./messages.ts";
import { renderContext } from "./context/render_context.ts";
import { replyFormat } from "./reply/reply_format.ts";
import type { RequestExtras } from "./request_extras.ts";

/** The start of every call of a query, and the requirements for its answers. */
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
