import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { BlockResult } from "../../domain/query/block_result.ts";
import { clip, oneLine } from "../../domain/text/clip.ts";
import { isChild, type QueryEvent } from "../../domain/query/query_event.ts";
import { delayLine } from "../../domain/query/delay_line.ts";

const RESULT_CHARS = 8_000;

/** What an editor shows for an event; null for nothing. Blocks appear as calls of a tool that runs code. */
export function updateOf(event: QueryEvent): SessionUpdate | null {
  switch (event.type) {
    case "thinking":
      return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: event.delta } };
    case "retrying":
    case "waiting":
      return {
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text: `\n(${oneLine(delayLine(event), 300)})\n` },
      };
    case "answer_delta":
      return isChild(event) ? null : messageChunk(event.delta);
    case "block_started":
      return {
        sessionUpdate: "tool_call",
        toolCallId: callId(event, event.block),
        title: titleOf(event.code),
        kind: "execute",
        status: "in_progress",
        rawInput: { code: event.code },
        content: [text(fenced(event.code, "ts"))],
      };
    case "block_finished":
      return {
        sessionUpdate: "tool_call_update",
        toolCallId: callId(event, event.block),
        status: event.result.ok ? "completed" : "failed",
        content: [text(fenced(shown(event.result)))],
      };
    default:
      return null;
  }
}

/** A part of the answer. */
export function messageChunk(text: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
}

function callId({ queryId, iteration }: QueryEvent, block: number): string {
  return `${queryId}/${iteration}/${block}`;
}

function titleOf(code: string): string {
  return oneLine(code.trim(), 80) || "Run code";
}

function shown({ error, outcome, stdout, stderr, preview }: BlockResult): string {
  const failed = error ? `${error.name}: ${error.message}` : "";
  const parts = [stdout, stderr, preview, failed].map((part) => part.trimEnd()).filter((part) => part !== "");
  return clip(parts.join("\n") || outcome, RESULT_CHARS);
}

function text(content: string) {
  return { type: "content" as const, content: { type: "text" as const, text: content } };
}

/** Uses a fence longer than any inside. */
function fenced(content: string, language = ""): string {
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content}\n${fence}`;
}
