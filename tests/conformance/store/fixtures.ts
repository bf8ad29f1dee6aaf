import { blockResult } from "../../../src/domain/query/host_call.ts";
import type { ApprovalQuestion } from "../../../src/domain/query/approval.ts";
import type { BlockResult, QueryEnd, Usage } from "../../../src/domain/query/query_schemas.ts";
import type { VariableImage } from "../../../src/domain/query/variable.ts";
import type {
  Branch,
  IterationEnd,
  NewIteration,
  NewQuery,
  Store,
  StoredBlock,
} from "../../../src/persistence/store.ts";

export const USAGE: Usage = { input: 100, output: 20, cached: 40, reasoning: 5, calls: 1 };
export const OWNER = { host: "here", space: "boot 1", pid: 4711, started: "99", session: 0 };

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

export function image(name: string, fields: Partial<VariableImage> = {}): VariableImage {
  return {
    name,
    kind: "data",
    bytes: utf8(`value of ${name}`),
    root: null,
    source: "",
    requires: [],
    reason: "",
    summary: { declaration: "const", type: "string", size: 3, shape: "string(3)", inline: '"abc"', doc: "" },
    ...fields,
  };
}

export function block(
  code: string,
  fields: Partial<Omit<StoredBlock, "result">> & { result?: Partial<BlockResult> } = {},
): StoredBlock {
  const saved = fields.saved ?? [];
  return {
    code,
    reads: [],
    literal: false,
    value: null,
    ...fields,
    saved,
    result: blockResult({ ok: true, outcome: "none", defined: saved.map(({ name }) => name), ...fields.result }),
  };
}

export function newQuery(branchId: string, text: string, fields: Partial<NewQuery> = {}): NewQuery {
  const base = { provider: "openai", model: "m1", promptEnrichment: "", runLabel: null, owner: OWNER };
  return { branchId, text, ...base, ...fields };
}

export function queryEnd(fields: Partial<QueryEnd> = {}): QueryEnd {
  return {
    status: "done",
    reason: "answered",
    answer: "It is 42",
    answerType: "markdown",
    confidence: "high",
    iterations: 1,
    usage: USAGE,
    costUsd: 0.25,
    ms: 1234,
    notes: ["one note"],
    ...fields,
  };
}

export function newIteration(queryId: string, position: number, fields: Partial<NewIteration> = {}): NewIteration {
  return {
    queryId,
    position,
    systemPrompt: "You are Vis",
    userPrompt: JSON.stringify([{ role: "user", content: "hi" }]),
    provider: "openai",
    model: "m1",
    response: `{"code":["x"]}`,
    thinking: `thought ${position}`,
    traces: [],
    modelMs: 17,
    blocks: [],
    metadata: {},
    ...fields,
  };
}

export function iterationEnd(blocks: readonly StoredBlock[], fields: Partial<IterationEnd> = {}): IterationEnd {
  return {
    status: "done",
    blocks,
    system: [],
    error: null,
    empty: false,
    totals: { iterations: 1, usage: USAGE, costUsd: 0.125 },
    metadata: {},
    ...fields,
  };
}

export async function begun(
  store: Store,
  facts: { readonly text?: string; readonly workspace?: string } = {},
): Promise<Branch & { readonly queryId: string }> {
  const { text = "how many?", workspace = "/work" } = facts;
  const branch = await store.createConversation({ title: "A title", channel: "cli", workspace });
  return { ...branch, queryId: await store.beginQuery(newQuery(branch.branchId, text)) };
}

export async function iterate(
  store: Store,
  { queryId, position, blocks, given = [], ...fields }:
    & { queryId: string; position: number; blocks: readonly StoredBlock[]; given?: readonly VariableImage[] }
    & Partial<IterationEnd>,
): Promise<string> {
  const codes = blocks.map(({ code }) => code);
  const id = await store.beginIteration(newIteration(queryId, position, { blocks: codes, given }));
  await store.endIteration(id, iterationEnd(blocks, fields));
  return id;
}

export const QUESTION: ApprovalQuestion = {
  ...{ id: "01a22800-0000-7000-8000-000000000001", extension: "shell" },
  ...{ what: "run npm ci with network", why: "it needs the registry", scope: "network for npm ci" },
};
