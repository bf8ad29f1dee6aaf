import type { EnvironmentView } from "@vis/extension";
import { allowed, type Command, type CommandOptions, spawnOptions } from "./command.ts";

export interface RunOptions extends CommandOptions {
  readonly maxBytes?: number;
}

/** Runs a command; one that fails is a result. Throws where a rule refuses it, and where none can run. */
export async function run(env: EnvironmentView, command: Command, options: RunOptions = {}): Promise<unknown> {
  const { notes, ...result } = await allowed(env, command)(spawnOptions(options));
  return notes.length > 0 ? { ...result, notes } : result;
}
