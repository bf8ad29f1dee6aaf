import type { EnvironmentView } from "@vis/extension";
import { refusedBy, type Rules } from "./rules.ts";

export interface RunOptions {
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly input?: string;
  readonly maxBytes?: number;
}

/** Runs a command; one that fails is a result. Throws where a rule refuses it, and where none can run. */
export async function run(
  env: EnvironmentView,
  command: string | readonly string[],
  options: RunOptions = {},
): Promise<unknown> {
  if (!env.spawn) throw new Error("Cannot run commands here: this conversation has no wall for them");
  const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  const refusal = refusedBy(env.config as Rules | undefined, command);
  if (refusal !== null) throw new Error(refusal);
  const { notes, ...result } = await env.spawn(argv, options);
  return notes.length > 0 ? { ...result, notes } : result;
}
