import { POLICIES } from "./policies/policies.ts";
import { readContext } from "./policies/read_context.ts";
import { replyText } from "./policies/reply_text.ts";

/** Messages of an iteration: system, request, reply format, context. */
const OF_AN_ITERATION = 4;
const WHAT = "This is the demo: it plays scripted replies and is not a model.";
const ADD_ONE = "To work with a model: vis auth login.";

/** The reply to the texts of one call's messages. */
export function demoReply(texts: readonly string[]): string {
  if (texts.length < OF_AN_ITERATION) return `${WHAT} ${ADD_ONE}`;
  const request = texts[1] ?? "";
  const policy = POLICIES.find(({ takes }) => takes.test(request));
  if (policy) return replyText(policy.decide({ request, context: readContext(texts.at(-1) ?? "") }));
  const list = POLICIES.map(({ example }) => `- ${example}`).join("\n");
  return replyText({
    thinking: "No scripted reply fits this request.",
    answerType: "markdown",
    final: `${WHAT} It answers small requests such as these:\n\n${list}\n\n${ADD_ONE}`,
  });
}
