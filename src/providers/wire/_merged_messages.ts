import type { ModelMessage } from "../provider.ts";

/** All texts as one, for templates that want one user message. */
export function mergedText(messages: readonly ModelMessage[]): string {
  return messages.map(({ text }) => text).join("\n\n");
}
