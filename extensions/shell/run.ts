import type { EnvironmentView } from "@vis/extension";
import { allowed, type CommandOptions, type ShellCommand, spawnOptions } from "./command.ts";
import { wallHint } from "./wall_hint.ts";

export interface ShellRunOptions extends CommandOptions {
  readonly maxBytes?: number;
}

/** Runs a command; a failed command is a result. Rejects as `allowed` does. */
export async function run(
  env: EnvironmentView,
  command: ShellCommand,
  options: ShellRunOptions = {},
): Promise<unknown> {
  const { notes, ...result } = await (await allowed(env, command, options))({
    ...spawnOptions(options),
    guessEncoding: true,
  });
  const hint = wallHint(env, `${result.stderr}\n${result.stdout}`);
  return { ...result, ...(hint === null ? {} : { hint }), ...(notes.length > 0 ? { notes } : {}) };
}
