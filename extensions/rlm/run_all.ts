import type { EnvironmentView } from "@vis/extension";
import { type Failure, settleAll } from "./ask_all.ts";

export interface ChildRunOptions {
  readonly vars?: string[];
  readonly model?: string;
  readonly maxIterations?: number;
}

export type Task = string | (ChildRunOptions & { readonly task: string });

const SHOWN_ANSWER = 500;

/** The answer of one child query; throws the reason if there is none. */
export async function runOne(env: EnvironmentView, task: string, options: ChildRunOptions = {}): Promise<string> {
  if (!env.runChild) throw new Error("Cannot run a child query: no query is running");
  const { status, reason, answer } = await env.runChild(task, options);
  if (status === "done") return answer;
  throw new Error(`The child query ended without an answer (${reason}): ${answer.slice(0, SHOWN_ANSWER)}`);
}

/** One answer per task, in order. `options` are the defaults of each task. */
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
