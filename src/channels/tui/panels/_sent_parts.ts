import type { Conversations } from "../../../conversation/conversations.ts";
import type { SentMessage } from "../../../domain/query/model_call.ts";
import { amounts } from "../text/amounts.ts";
import type { TextPart } from "../widgets/text_view.ts";
import { stepTable } from "./_step_table.ts";

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

/** Everything about one iteration: facts, the exact messages that were sent, the raw reply. */
export function sentParts(iteration: StoredIteration, messages: readonly SentMessage[]): readonly TextPart[] {
  const { response, thinking, error } = iteration;
  const part = (head: string, text: string): readonly TextPart[] => text === "" ? [] : [{ head, text }];
  return [
    { head: "Facts", text: stepTable(iteration), look: "table" },
    ...messages.flatMap(({ role, text }, at) =>
      part(`Message ${at + 1} of ${messages.length}: ${role} · ${size(text)}`, text)
    ),
    ...part(`Reply as received · ${size(response)}`, response),
    ...part("Thinking", thinking),
    ...part("Error", error ?? ""),
  ];
}

/** Estimates four characters per token: no tokenizer fits all models. */
function size(text: string): string {
  const tokens = Math.ceil(text.length / 4).toLocaleString("en");
  return `${amounts.bytes(new TextEncoder().encode(text).length)}, about ${tokens} tokens`;
}
