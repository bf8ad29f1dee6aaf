import type { PolicyReply } from "./policy.ts";

/** What a policy decided, in the format of a model's reply. */
export function replyText({ thinking, code = [], final, answerType = "text" }: PolicyReply): string {
  return JSON.stringify({
    thinking,
    code: code.map((expr) => ({ expr, timeMs: 5_000 })),
    ...(final === undefined ? {} : { final: { answer: final, answerType, confidence: "high" } }),
  });
}
