import type { QueryResult } from "../../src/domain/query/query_schemas.ts";
import { buildRouter } from "../../src/app/providers/build_router.ts";
import { readSettings } from "../../src/app/settings/settings.ts";
import { shipped } from "../../extensions/index.ts";
import type { MadeTask } from "./agent_task.ts";
import { type AgentOptions, NO_SETTINGS, SCRIPTED, startScript } from "./vis_agent.ts";

const MOST_CHARS = 300_000;

export type Answered = Pick<QueryResult, "status" | "reason" | "answer" | "iterations" | "usage" | "costUsd">;

export function fitsDirectly({ files, context, turns }: MadeTask): boolean {
  const chars = Object.values(files).reduce((sum, text) => sum + text.length, context.length);
  return turns.length === 1 && chars <= MOST_CHARS && turns.every(({ expects }) => !expects.right.files);
}

export async function askDirect({ files, context, turns }: MadeTask, options: AgentOptions): Promise<Answered> {
  const [turn] = turns;
  if (!turn) throw new TypeError("Cannot ask the model: the task has no request");
  const parts = Object.entries(files).map(([path, text]) => `${path}:\n\n${text}`);
  const prompt = [...parts, ...(context === "" ? [] : [`The text:\n\n${context}`]), turn.request].join("\n\n");
  const scripted = options.provider === SCRIPTED ? await startScript([turn.expects.right.answer]) : null;
  try {
    const env = scripted ? { ...NO_SETTINGS, VIS_HOME: "/nonexistent", ...scripted.env } : Deno.env.toObject();
    const named = scripted ? {} : { provider: options.provider, ...(options.model ? { model: options.model } : {}) };
    const settings = await readSettings({ db: ":memory:", ...named }, env, { shipped });
    const router = await buildRouter(settings);
    const signal = AbortSignal.timeout(options.timeoutSeconds * 1000);
    const messages = [{ role: "user" as const, text: prompt }];
    const { text, usage, costUsd } = await router.ask({ messages, reasoning: "balanced" }, { signal });
    return { status: "done", reason: "answered", answer: text, iterations: 1, usage, costUsd };
  } finally {
    await scripted?.close();
  }
}
