import type { ConversationParts } from "../../conversation/conversation_parts.ts";
import { Conversations } from "../../conversation/conversations.ts";
import { QuerySpans } from "./query_spans.ts";
import type { Tracer } from "./tracer.ts";

/** Wraps conversations with spans for every query. */
export function tracedConversations(parts: ConversationParts, tracer: Tracer): Conversations {
  const around: NonNullable<ConversationParts["around"]> = async (emit, run) => {
    const spans = new QuerySpans(tracer);
    try {
      return await tracer.within(spans, () =>
        run((event) => {
          spans.event(event);
          emit(event);
        }));
    } catch (error) {
      spans.close(error);
      throw error;
    }
  };
  return new Conversations({ ...parts, around });
}
