import type { EnvironmentView } from "@vis/extension";
import { type CommandRules, refusedBy } from "./rules.ts";

/** A command line for `/bin/sh`, or a program with its arguments. */
export type ShellCommand = string | readonly string[];

/** Options of a command. */
export interface CommandOptions {
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

type Spawn = NonNullable<EnvironmentView["spawn"]>;

/** How to run a command. Throws if a rule refuses it, or if commands cannot run. */
export function allowed(
  env: EnvironmentView,
  command: ShellCommand,
): (...options: [Parameters<Spawn>[1]]) => ReturnType<Spawn> {
  const { spawn } = env;
  if (!spawn) throw new Error("Cannot run commands here: this conversation has no wall for them");
  const refusal = refusedBy(env.config as CommandRules | undefined, command);
  if (refusal !== null) throw new Error(refusal);
  const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  // Commands of a conversation reach each other's servers.
  return (options) => spawn(argv, { ...options, loopback: env.conversationId });
}

/** The same options under the names of `spawn`. */
export function spawnOptions({ stdin, ...options }: CommandOptions): NonNullable<Parameters<Spawn>[1]> {
  return stdin === undefined ? options : { ...options, input: stdin };
}
