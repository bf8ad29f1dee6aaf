import type { Generated, GeneratedAlways } from "kysely";

/** Increases from row to row: the order in which rows were stored, independent of the clock. `selectAll` leaves it
 * out. */
interface Stored {
  readonly rowid: GeneratedAlways<number>;
}

/** The tables of the migrations in camel case; the dialects translate the names both ways. */
export interface DatabaseSchema {
  readonly content: {
    hash: string;
    encoding: "raw" | "chunks" | "delta";
    bytes: Uint8Array;
    base: string | null;
    steps: string | null;
    spent: number | null;
  };
  readonly conversationSoul: {
    id: string;
    metadata: string | null;
    createdAt: number;
    /** Increases with each conversation and each query of a user: the conversation with the highest number was used
     * last. */
    activity: number;
    tenant: string;
  };
  readonly conversationState: {
    id: string;
    conversationSoulId: string;
    parentStateId: string | null;
    title: string | null;
    version: number;
    metadata: string | null;
    createdAt: number;
    queries: Generated<number>;
  };
  readonly lease: {
    conversationStateId: string;
    host: string;
    space: Generated<string>;
    pid: number;
    started: string;
    session: Generated<number>;
    acquiredAt: number;
    heartbeatAt: number;
  };
  readonly querySoul: Stored & {
    id: string;
    conversationStateId: string;
    title: string | null;
    query: string | null;
    metadata: string | null;
    createdAt: number;
    number: number;
    runs: number;
  };
  readonly queryState: Stored & {
    id: string;
    querySoulId: string;
    forkedFromQueryStateId: string | null;
    version: number;
    llmProvider: string | null;
    llmRootModel: string | null;
    promptEnrichment: string | null;
    subtitle: string | null;
    runLabel: string | null;
    status: RunStatus;
    metadata: string | null;
    createdAt: number;
  };
  readonly iteration: Stored & {
    id: string;
    queryStateId: string;
    position: number;
    status: RunStatus;
    llmSystemPrompt: string | null;
    llmUserPrompt: string | null;
    llmProvider: string | null;
    llmModel: string | null;
    llmResponse: string | null;
    llmTraces: string | null;
    llmFullDurationMs: number | null;
    llmThinking: string | null;
    llmError: string | null;
    llmReturnedEmptyExpressions: number;
    metadata: string | null;
    createdAt: number;
    finishedAt: number | null;
  };
  readonly expressionSoul: Stored & {
    id: string;
    conversationStateId: string;
    kind: "var" | "call" | "literal";
    stateMode: "stateless" | "stateful";
    name: string | null;
    metadata: string | null;
    createdAt: number;
  };
  readonly expressionDependency: Stored & {
    id: string;
    conversationStateId: string;
    downstreamExpressionSoulId: string;
    upstreamExpressionSoulId: string;
    metadata: string | null;
    createdAt: number;
  };
  readonly expressionState: Stored & {
    id: string;
    expressionSoulId: string;
    iterationId: string;
    version: number;
    success: number;
    expr: string | null;
    /** Bytes, or a reference as text. */
    result: Uint8Array | string | null;
    error: Uint8Array | string | null;
    stdout: string | null;
    stderr: string | null;
    durationMs: number | null;
    metadata: string | null;
    createdAt: number;
  };
  readonly scopeChange: {
    id: Generated<number>;
    expressionSoulId: string;
    queryStateId: string | null;
    position: number;
    scope: "live" | "forgotten";
    createdAt: number;
  };
  readonly extensionState: Stored & {
    id: string;
    namespace: string;
    conversationStateId: string | null;
    queryStateId: string | null;
    position: number;
    key: string;
    version: number;
    value: string | null;
    createdAt: number;
    /** Of global state. In SQLite, that of a branch has none but the one of its conversation. */
    tenant: Generated<string | null>;
  };
  readonly requestKey: {
    conversationStateId: string;
    key: string;
    fingerprint: string;
    queryStateId: string;
    createdAt: number;
  };
  readonly childBranch: Stored & {
    conversationStateId: string;
    iterationId: string;
    depth: number;
    createdAt: number;
  };
  readonly subCall: Stored & {
    id: string;
    iterationId: string;
    llmProvider: string;
    llmModel: string;
    prompt: string;
    reply: string | null;
    error: string | null;
    usage: string;
    costUsd: number | null;
    durationMs: number;
    createdAt: number;
  };
  readonly erasure: { hash: string };
  readonly claim: { put: string; reference: string; claimedAt: number };
  readonly log: {
    id: string;
    level: string;
    event: string;
    data: string | null;
    conversationSoulId: string | null;
    conversationStateId: string | null;
    querySoulId: string | null;
    queryStateId: string | null;
    iterationId: string | null;
    expressionSoulId: string | null;
    expressionStateId: string | null;
    createdAt: number;
  };
}

/** The four statuses of queries and iterations. */
type RunStatus = "running" | "done" | "error" | "interrupted";
