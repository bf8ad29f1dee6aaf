import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { isAbsolute, join } from "node:path";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { clip, oneLine } from "../../domain/kit/text.ts";
import { BlockTally, callsText, withMark } from "../../domain/query/host_call.ts";
import { delayLine, isChild } from "../../domain/query/query_event.ts";
import { blockFailure, blockLine } from "../../domain/query/query_progress.ts";
import type { BlockResult, QueryEvent } from "../../domain/query/query_schemas.ts";

const RESULT_CHARS = 8_000, TITLE_CHARS = 120;
/** A call may end after its block, so `SessionUpdates` keeps the latest blocks. */
const MOST_BLOCKS = 50;

interface Call {
  readonly code: string;
  readonly tally: BlockTally;
  readonly edits: EditedText[];
  content: readonly ToolCallContent[];
}

export class SessionUpdates {
  readonly #workspace: string;
  readonly #calls = new BoundedMap<string, Call>(MOST_BLOCKS);

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  take(event: QueryEvent): SessionUpdate | null {
    switch (event.type) {
      case "thinking":
        return thought(event.delta);
      case "retrying":
      case "waiting":
        return thought(`\n(${oneLine(delayLine(event), 300)})\n`);
      case "answer_delta":
        return isChild(event) ? null : messageChunk(event.delta);
      case "block_started":
        return this.#begin(event);
      case "host_call":
        return this.#called(event);
      case "block_finished":
        return this.#end(event);
      default:
        return null;
    }
  }

  #begin(event: Extract<QueryEvent, { readonly type: "block_started" }>): SessionUpdate {
    const { code } = event;
    const content = [text(fenced(code, "ts"))];
    this.#calls.set(callId(event, event.block), { code, tally: new BlockTally(), edits: [], content });
    return {
      sessionUpdate: "tool_call",
      toolCallId: callId(event, event.block),
      title: titleOf(code),
      kind: "execute",
      status: "in_progress",
      rawInput: { code },
      content,
    };
  }

  #called(event: Extract<QueryEvent, { readonly type: "host_call" }>): SessionUpdate | null {
    const toolCallId = callId(event, event.block);
    const call = this.#calls.get(toolCallId);
    call?.tally.take(event);
    const edits = (event.diffs ?? []).flatMap(editedTexts).map((edit) => this.#located(edit));
    if (!call || edits.length === 0) return null;
    call.edits.push(...edits);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId,
      content: [...call.content, ...call.edits.map(diffOf)],
      locations: call.edits.map(({ path, line }) => ({ path, line })),
    };
  }

  #end(event: Extract<QueryEvent, { readonly type: "block_finished" }>): SessionUpdate {
    const toolCallId = callId(event, event.block);
    const call = this.#calls.get(toolCallId);
    const { code = "", tally = new BlockTally(), edits = [] } = call ?? {};
    const { ok, lines } = blockLine({ code, tally, result: event.result }, TITLE_CHARS);
    const calls = [...lines.map(withMark), tally.output].filter((part) => part !== "").join("\n");
    const content = [...tally.failed ? [text(fenced(calls))] : [], text(fenced(shown(event.result)))];
    if (call) call.content = content;
    return {
      sessionUpdate: "tool_call_update",
      toolCallId,
      ...(tally.text === "" ? {} : { title: oneLine(callsText(lines), TITLE_CHARS) }),
      status: ok ? "completed" : "failed",
      content: [...content, ...edits.map(diffOf)],
    };
  }

  #located(edit: EditedText): EditedText {
    return isAbsolute(edit.path) ? edit : { ...edit, path: join(this.#workspace, edit.path) };
  }
}

export function messageChunk(text: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
}

function thought(text: string): SessionUpdate {
  return { sessionUpdate: "agent_thought_chunk", content: { type: "text", text } };
}

function diffOf({ path, before, after }: EditedText): ToolCallContent {
  return { type: "diff", path, oldText: before, newText: after };
}

function callId({ queryId, iteration }: QueryEvent, block: number): string {
  return `${queryId}/${iteration}/${block}`;
}

function titleOf(code: string): string {
  const short = oneLine(code.trim(), 80);
  return /^(?:await )?answer\(/.test(short) ? "Answer" : short || "Run code";
}

function shown(result: BlockResult): string {
  const { error, outcome, stdout, stderr, preview } = result;
  const failed = error ? blockFailure(result) : "";
  const parts = [stdout, stderr, preview, failed].map((part) => part.trimEnd()).filter((part) => part !== "");
  return clip(parts.join("\n") || outcome, RESULT_CHARS);
}

function text(content: string) {
  return { type: "content" as const, content: { type: "text" as const, text: content } };
}

export function fenced(content: string, language = ""): string {
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content}\n${fence}`;
}

interface EditedText {
  readonly path: string;
  readonly line: number;
  readonly before: string | null;
  readonly after: string;
}

function editedTexts(diff: string): readonly EditedText[] {
  const [head = "", ...hunks] = diff.split(/^(?=@@ )/m);
  const [, before = "", after = ""] = /^--- (.*)\n\+\+\+ (.*)$/m.exec(head) ?? [];
  const path = (after === "/dev/null" ? before : after).replace(/^[ab]\//, "");
  if (path === "") return [];
  return hunks.map((hunk) => {
    const [place = "", ...lines] = hunk.replace(/\n$/, "").split("\n");
    const line = Math.max(1, Number(/\+(\d+)/.exec(place)?.[1] ?? 1));
    const kept = (sign: string): string =>
      lines.filter((one) => one.startsWith(sign) || one.startsWith(" ")).map((one) => `${one.slice(1)}\n`).join("");
    return { path, line, before: before === "/dev/null" ? null : kept("-"), after: kept("+") };
  });
}
