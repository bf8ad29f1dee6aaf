import { POLICIES } from "./policies/policies.ts";
import { readContext } from "./policies/read_context.ts";
import { replyText } from "./policies/reply_text.ts";

/** Messages of an iteration: system, request, reply format, context. */
const OF_AN_ITERATION = 4;
const NO_MODEL = 'The provider "demo" is no model: it';

/** The reply to the texts of one call's messages. */
export function demoReply(texts: readonly string[]): string {
  if (texts.length < OF_AN_ITERATION) return `${NO_MODEL} answers the questions of its own policies only.`;
  const request = texts[1] ?? "";
  const policy = POLICIES.find(({ takes }) => takes.test(request));
  if (policy) return replyText(policy.decide({ request, context: readContext(texts.at(-1) ?? "") }));
  const list = POLICIES.map(({ example }) => `- ${example}`).join("\n");
  return replyText({
    thinking: "No policy takes this request.",
    final: `${NO_MODEL} plays a few fixed policies. They take requests like these:\n${list}`,
  });
}
