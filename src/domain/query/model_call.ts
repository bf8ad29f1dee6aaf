import { asRecord, jsonOrUndefined } from "../kit/json.ts";
import type { Usage } from "./query_schemas.ts";

export interface ModelTrace {
  readonly provider: string;
  readonly model: string;
  readonly ok: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly usage: Usage | null;
  readonly costUsd?: number | null;
  readonly ms: number;
  readonly repairs: readonly string[];
}

export interface SubCall {
  readonly iterationId: string;
  readonly provider: string;
  readonly model: string;
  readonly prompt: string;
  readonly reply: string | null;
  readonly error: string | null;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly ms: number;
}

export interface SentMessage {
  readonly role: "system" | "user";
  readonly text: string;
}

/** A web search of a service used this page. */
export interface WebSource {
  readonly title: string;
  readonly url: string;
}

export interface WebFindings {
  readonly text: string;
  readonly sources: readonly WebSource[];
}

/** Vis stores this text as the reply of a search, so that a replay also has the sources. */
export function searchReplyText({ text, sources }: WebFindings): string {
  return JSON.stringify({ text, sources }, null, 2);
}

export function readSearchReply(stored: string): WebFindings {
  const { text, sources } = asRecord(jsonOrUndefined(stored));
  if (typeof text !== "string" || !Array.isArray(sources)) return { text: stored, sources: [] };
  const pages = sources.map(asRecord).map(({ title, url }) => ({ title: String(title), url: String(url) }));
  return { text, sources: pages };
}

export const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, reasoning: 0, calls: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const cacheWrite = (a.cacheWrite ?? 0) + (b.cacheWrite ?? 0);
  const searches = (a.searches ?? 0) + (b.searches ?? 0);
  const estimated = (a.estimated ?? 0) + (b.estimated ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    ...(cacheWrite > 0 ? { cacheWrite } : {}),
    reasoning: a.reasoning + b.reasoning,
    calls: a.calls + b.calls,
    ...(searches > 0 ? { searches } : {}),
    ...(estimated > 0 ? { estimated } : {}),
  };
}

/** The cost in US dollars is null if the price of a call is unknown. */
export interface Spend {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

export const NOTHING_SPENT: Spend = { usage: NO_USAGE, costUsd: 0 };

export function addSpend(a: Spend, b: Spend): Spend {
  const isUnknown = a.costUsd === null || (b.costUsd === null && b.usage.calls > 0);
  return {
    usage: addUsage(a.usage, b.usage),
    costUsd: isUnknown ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0),
  };
}

export function aboutText({ estimated = 0 }: Pick<Usage, "estimated">): string {
  return estimated > 0 ? "about " : "";
}

export function spentText({ usage, costUsd }: Spend): readonly string[] {
  const { input, output, calls } = usage;
  return [
    input + output > 0 ? `${aboutText(usage)}${input} in + ${output} out tokens` : "tokens not counted",
    ...(costUsd === null && calls > 0 ? ["price unknown"] : []),
    ...(costUsd === null || costUsd === 0 ? [] : [`${aboutText(usage)}$${costUsd.toFixed(4)}`]),
  ];
}

export function spentOn(attempts: readonly ModelTrace[]): Spend {
  return attempts.reduce(
    (sum, { usage, costUsd = null }) => usage ? addSpend(sum, { usage, costUsd }) : sum,
    NOTHING_SPENT,
  );
}
