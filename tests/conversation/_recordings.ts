import { blockResult } from "../../src/domain/query/host_call.ts";
import { NO_USAGE } from "../../src/domain/query/model_call.ts";
import type { RecordedIteration, RecordedQuery, Recording } from "../../src/domain/records/recording.ts";

export const BAD = [
  "<script>alert(1)</script><img src=x onerror=alert(2)>",
  "</pre></details></main>\" ' onload='x' & \u202eevil\u202c \x1b[31mred\x07",
  "````",
  "# heading",
  "![x](https://evil.example/track) \ud800",
].join("\n");

const BAD_DIFF = [`--- a/${oneLine(BAD)}`, `+++ b/${oneLine(BAD)}`, "@@ -1,2 +1,2 @@"].concat(
  BAD.split("\n").flatMap((line) => [`-${line}`, `+${line} !`]).slice(0, 4),
  BAD,
).join("\n");

function oneLine(text: string): string {
  return text.replaceAll("\n", " ");
}

export function recordedIteration(fields: Partial<RecordedIteration> = {}): RecordedIteration {
  return {
    iterationId: "i",
    number: 1,
    status: "done",
    outcome: "executed",
    thinking: "look first",
    nativeReasoning: "",
    response: "",
    error: null,
    notes: [],
    budget: null,
    blocks: [{ code: "1 + 1", result: blockResult({ ok: true, outcome: "value", preview: "2", ms: 3 }), diffs: [] }],
    calls: [],
    children: [],
    ...fields,
  };
}

export function recordedQuery(fields: Partial<RecordedQuery> = {}): RecordedQuery {
  return {
    queryId: "q",
    text: "How many?",
    running: false,
    status: "done",
    reason: "answered",
    answer: "**2** of them",
    confidence: "high",
    usage: NO_USAGE,
    costUsd: 0.5,
    ms: 1500,
    notes: [],
    images: [],
    answerSchema: null,
    steered: [],
    context: null,
    iterations: [recordedIteration()],
    createdAt: 0,
    ...fields,
  };
}

export function recording(queries: readonly RecordedQuery[], title = "A title"): Recording {
  return { conversationId: "01a2", title, workspace: "/work", createdAt: 0, queries };
}

export function hostileRecording(): Recording {
  const error = { name: BAD, message: BAD, line: 1, column: 1, excerpt: BAD, stack: BAD };
  const result = blockResult({ outcome: "error", preview: BAD, stdout: BAD, stderr: BAD, error });
  const iteration = recordedIteration({
    outcome: BAD,
    thinking: BAD,
    error: BAD,
    notes: [BAD],
    blocks: [{ code: BAD, result, diffs: [BAD_DIFF] }],
    calls: [{ prompt: BAD, reply: BAD, error: null }, { prompt: BAD, reply: null, error: BAD }],
    children: [recordedQuery({ text: BAD, answer: BAD })],
  });
  const query = recordedQuery({
    text: BAD,
    answer: BAD,
    notes: [BAD],
    images: [{ kind: "url", url: BAD }, { kind: "bytes", mediaType: BAD, bytes: new TextEncoder().encode(BAD) }],
    context: { label: BAD, json: false, pieces: () => new ReadableStream<Uint8Array>().values() },
    iterations: [iteration],
  });
  return recording([query, query], BAD);
}
