import { blockResult } from "../../../src/domain/query/host_call.ts";
import { NO_USAGE } from "../../../src/domain/query/model_call.ts";
import type { RecordedIteration, RecordedQuery, Recording } from "../../../src/domain/records/recording.ts";

export function iteration(number: number, facts: Partial<RecordedIteration> = {}): RecordedIteration {
  return {
    iterationId: crypto.randomUUID(),
    number,
    status: "done",
    outcome: "executed",
    thinking: "",
    nativeReasoning: "",
    response: `reply ${number}`,
    error: null,
    notes: [],
    budget: 4,
    blocks: [],
    calls: [],
    children: [],
    ...facts,
  };
}

export function query(text: string, facts: Partial<RecordedQuery> = {}): RecordedQuery {
  return {
    queryId: crypto.randomUUID(),
    text,
    running: false,
    status: "done",
    reason: "answered",
    answer: "yes",
    confidence: "high",
    usage: NO_USAGE,
    costUsd: null,
    ms: Math.random(),
    notes: [],
    images: [],
    answerSchema: null,
    steered: [],
    context: null,
    iterations: [iteration(1)],
    createdAt: Math.random(),
    ...facts,
  };
}

export function block(preview: string): RecordedIteration["blocks"][number] {
  return { code: "x", diffs: [], result: blockResult({ ok: true, outcome: "value", preview, ms: Math.random() }) };
}

export function recording(...queries: RecordedQuery[]): Recording {
  return { conversationId: crypto.randomUUID(), title: "", workspace: "", createdAt: 0, queries };
}
