import { type EnvironmentView, messageOf } from "@vis/extension";

export interface AskAllOptions {
  readonly model?: string;
  readonly system?: string;
}

export interface Failure {
  readonly error: string;
}

export async function askOne(env: EnvironmentView, prompt: string, options: AskAllOptions = {}): Promise<string> {
  if (!env.ask) throw new Error("Cannot ask a model: no request is running");
  return await env.ask(prompt, options);
}

export async function askAll(
  env: EnvironmentView,
  prompts: readonly string[],
  options: AskAllOptions = {},
): Promise<(string | Failure)[]> {
  return await settleAll(env, prompts.map((prompt) => askOne(env, prompt, options)));
}

async function settleAll(
  env: EnvironmentView,
  asked: readonly Promise<string>[],
): Promise<(string | Failure)[]> {
  const slots = await Promise.allSettled(asked);
  env.signal?.throwIfAborted();
  return slots.map((slot) => slot.status === "fulfilled" ? slot.value : { error: messageOf(slot.reason) });
}

export interface ChildRunOptions {
  readonly vars?: string[];
  readonly model?: string;
  readonly maxIterations?: number;
}

export type Task = string | (ChildRunOptions & { readonly task: string });

const SHOWN_ANSWER = 500;

export async function runOne(env: EnvironmentView, task: string, options: ChildRunOptions = {}): Promise<string> {
  if (!env.runChild) throw new Error("Cannot run a sub-query: no request is running");
  const { status, reason, answer } = await env.runChild(task, options);
  if (status === "done") return answer;
  const last = answer === "" ? "" : `; its last text is ${JSON.stringify(answer.slice(0, SHOWN_ANSWER))}`;
  throw new Error(`Cannot finish the sub-query: it ended without an answer (${reason})${last}`);
}

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
