import { oracle } from "./_oracle.ts";
import { POLICIES } from "./policies/policies.ts";
import type { PolicyInput, PolicyReply } from "./policies/policy.ts";
import { readContext } from "./policies/read_context.ts";

/** Messages of an iteration: system, request, reply format, context. */
const OF_AN_ITERATION = 4;

/** The reply to the texts of one call's messages: from a policy for an iteration, from the oracle for a plain call. */
export function demoReply(texts: readonly string[]): string {
  const last = texts.at(-1) ?? "";
  if (texts.length < OF_AN_ITERATION) return oracle(last);
  return JSON.stringify(replyOf(decide({ request: texts[1] ?? "", context: readContext(last) })));
}

function decide(turn: PolicyInput): PolicyReply {
  const policy = POLICIES.find(({ takes }) => takes.test(turn.request));
  if (policy) return policy.decide(turn);
  const list = POLICIES.map(({ example }) => `- ${example}`).join("\n");
  return {
    thinking: "No policy takes this request.",
    final: `The provider "demo" is no model: it plays a few fixed policies. They take requests like these:\n${list}`,
  };
}

function replyOf({ thinking, code = [], final, answerType = "text" }: PolicyReply): object {
  return {
    thinking,
    code: code.map((expr) => ({ expr, timeMs: 5_000 })),
    ...(final === undefined ? {} : { final: { answer: final, answerType, confidence: "high" } }),
  };
}
