import { type EnvironmentView, messageOf } from "@vis/extension";

export interface AskAllOptions {
  readonly model?: string;
  readonly system?: string;
}

/** Takes the place of an answer that failed. */
export interface Failure {
  readonly error: string;
}

/** The text of one reply. */
export async function askOne(env: EnvironmentView, prompt: string, options: AskAllOptions = {}): Promise<string> {
  if (!env.ask) throw new Error("Cannot ask a model: no query is running");
  return await env.ask(prompt, options);
}

/** One answer per prompt, in order; only a cancelled query fails as a whole. */
export async function askAll(
  env: EnvironmentView,
  prompts: readonly string[],
  options: AskAllOptions = {},
): Promise<(string | Failure)[]> {
  return await settleAll(env, prompts.map((prompt) => askOne(env, prompt, options)));
}

/** Answers and failures as values. */
export async function settleAll(
  env: EnvironmentView,
  asked: readonly Promise<string>[],
): Promise<(string | Failure)[]> {
  const slots = await Promise.allSettled(asked);
  env.signal?.throwIfAborted();
  return slots.map((slot) => slot.status === "fulfilled" ? slot.value : { error: messageOf(slot.reason) });
}
