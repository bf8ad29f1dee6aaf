import type { EnvironmentView } from "@vis/extension";
import { type Failure, settleAll } from "./ask_all.ts";

export interface ChildRunOptions {
  readonly vars?: string[];
  readonly model?: string;
  readonly maxIterations?: number;
}

export type Task = string | (ChildRunOptions & { readonly task: string });

const SHOWN_ANSWER = 500;

/** The answer of one child query; throws with its reason where it has none. */
export async function runOne(env: EnvironmentView, task: string, options: ChildRunOptions = {}): Promise<string> {
  if (!env.runChild) throw new Error("Cannot run a child query: no query is running");
  const { status, reason, answer } = await env.runChild(task, options);
  if (status === "done") return answer;
  throw new Error(`The child query ended without an answer (${reason}): ${answer.slice(0, SHOWN_ANSWER)}`);
}

/** One answer for each task, in their order. What a task does not say comes from `options`. */
export async function runAll(
  env: EnvironmentView,
  tasks: readonly Task[],
  options: ChildRunOptions = {},
): Promise<(string | Failure)[]> {
  const running = tasks.map((one) => {
    if (typeof one === "string") return runOne(env, one, options);
    const { task, ...own } = one;
    return runOne(env, task, { ...options, ...own });
  });
  return await settleAll(env, running);
}
