import {
  type AgentContext,
  methods,
  type PermissionOptionKind,
  type RequestPermissionResponse,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import { abortable } from "../../domain/kit/concurrency.ts";
import {
  approvalBeginning,
  approvalChoices,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../domain/query/approval.ts";
import type { Decision } from "../../domain/query/outcomes.ts";

const KINDS: Readonly<Record<Decision, PermissionOptionKind>> = {
  once: "allow_once",
  conversation: "allow_always",
  workspace: "allow_always",
  no: "reject_once",
};

/** Asks by the editor's own request for permission. Rejects if the editor has none; nothing is allowed then. */
export function askPermission(client: AgentContext, sessionId: string): Approve {
  return async (question, signal) => {
    const choices = approvalChoices(question);
    const title = approvalTitle(question);
    // An editor may show only a part of a long title.
    const texts = [approvalBeginning(question) === "" ? "" : title, approvalWhy(question)];
    const content = texts.filter((text) => text !== "").map((text): ToolCallContent => ({
      type: "content",
      content: { type: "text", text },
    }));
    const asking: Promise<RequestPermissionResponse> = client.request(methods.client.session.requestPermission, {
      sessionId,
      toolCall: { toolCallId: question.id, title, status: "pending", content },
      options: choices.map(({ decision, text }) => ({ optionId: decision, name: text, kind: KINDS[decision] })),
    });
    asking.catch(() => {}); // where the signal comes first
    const { outcome } = await abortable(asking, signal);
    const chosen = outcome.outcome === "selected" ? outcome.optionId : "no";
    const { decision } = choices.find((one) => one.decision === chosen) ?? { decision: "no" };
    return { decision, reason: "" };
  };
}
