import assert from "node:assert/strict";
import { ProviderError } from "../../src/domain/errors.ts";
import type { QueryReason } from "../../src/domain/query/outcomes.ts";
import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";

export interface StateRow {
  readonly state: string;
  readonly event: string;
  readonly next: string;
  /** Drives a query through the row. Throws if the query takes another way. */
  readonly drive: () => Promise<void>;
}

export interface Played {
  readonly engine: Engine;
  readonly result: QueryResult;
  /** Returns `n/m` of the header of a call, 0-based. */
  header(call: number): string;
  /** Returns `balanced` without a current error, and `deep` after one. */
  reasoning(call: number): string | undefined;
}

export const WORKS = replyJson("const a = 1");
export const FAILS = replyJson('throw new Error("broken")');
export const EMPTY = replyJson([]);
export const PROSE = "I am sure that it is fine.";
export const ANSWERS = replyJson([], { final: "It is done: 1" });
export const MISSING = replyJson("const seen = 1", { final: "{{seen}} {{missing}}" });
export async function play(
  replies: readonly ScriptedReply[],
  check: (played: Played) => void | Promise<void>,
  { signal, responseSchema, ...options }: EngineOptions & {
    readonly signal?: (engine: Engine) => AbortSignal;
    readonly responseSchema?: unknown;
  } = {},
): Promise<void> {
  await using engine = await startEngine(replies, options);
  const result = await engine.conversations.ask(engine.branch, "count", {
    signal: signal?.(engine) ?? new AbortController().signal,
    emit: (event) => engine.events.push(event),
    ...(responseSchema === undefined ? {} : { responseSchema }),
  });
  const stored = await engine.store.query(result.queryId);
  assert.deepEqual([stored?.running, stored?.status, stored?.reason], [false, result.status, result.reason]);
  assert.notEqual(result.answer.trim(), "");
  await check({
    engine,
    result,
    header: (call) => /^\[iter (\d+\/\d+)\]/.exec(engine.context(call))?.[1] ?? "",
    reasoning: (call) => engine.provider.requests[call]?.reasoning,
  });
}

export function ended(result: QueryResult, reason: QueryReason, answer?: RegExp): void {
  assert.equal(result.reason, reason);
  if (answer) assert.match(result.answer, answer);
}

export function callError(status: number): ProviderError {
  return new ProviderError(`The server refused the request: ${status}`, { code: "server", retryable: false, status });
}
