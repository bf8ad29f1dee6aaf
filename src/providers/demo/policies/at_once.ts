import type { PolicyInput, PolicyReply } from "./policy.ts";

/** Code and answer in one reply. If the code failed, the answer says so. */
export function atOnce({ journal }: PolicyInput["context"], reply: PolicyReply): PolicyReply {
  const row = journal.at(-1);
  if (row === undefined) return reply;
  return {
    thinking: "The block failed, and the demo has no alternative.",
    final: `The demo could not do that: ${row.outcome.slice(0, 300)}`,
  };
}
