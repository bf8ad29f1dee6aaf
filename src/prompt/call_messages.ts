import type { ModelMessage } from "../providers/provider.ts";
import type { ContextParts } from "./context_parts.ts";
import { assembleMessages } from "./messages.ts";
import { renderContext } from "./render_context.ts";
import { REPLY_FORMAT } from "./reply_format.ts";
import type { RequestExtras } from "./request_extras.ts";

/** What every call of a query begins with, and what its answers must be like. */
export interface CallPrefix {
  readonly system: string;
  readonly request: string;
  readonly extras: RequestExtras;
}

/** The messages of one call. The loop and `vis prompt` call this function, and nothing else makes them. */
export function callMessages(
  { system, request, extras }: CallPrefix,
  { context, alternatingRoles }: { readonly context: ContextParts; readonly alternatingRoles: boolean },
): ModelMessage[] {
  const { images, answerSchema } = extras;
  return assembleMessages({
    system,
    request,
    images,
    schema: answerSchema ? `${REPLY_FORMAT}\n\n${answerSchema.instructions}` : REPLY_FORMAT,
    context: renderContext(context),
    alternatingRoles,
  });
}
