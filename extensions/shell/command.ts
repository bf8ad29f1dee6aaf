import type { EnvironmentView } from "@vis/extension";
import { type CommandRules, refusedBy } from "./rules.ts";

/** A text for `/bin/sh`, or a program with its arguments. */
export type ShellCommand = string | readonly string[];

/** What is given to a command. */
export interface CommandOptions {
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

type Spawn = NonNullable<EnvironmentView["spawn"]>;

/** A way to run it. Throws where a rule refuses it, and where none can run. */
export function allowed(
  env: EnvironmentView,
  command: ShellCommand,
): (...options: [Parameters<Spawn>[1]]) => ReturnType<Spawn> {
  const { spawn } = env;
  if (!spawn) throw new Error("Cannot run commands here: this conversation has no wall for them");
  const refusal = refusedBy(env.config as CommandRules | undefined, command);
  if (refusal !== null) throw new Error(refusal);
  const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  return (options) => spawn(argv, options);
}

/** As the wall calls them. */
export function spawnOptions({ stdin, ...options }: CommandOptions): NonNullable<Parameters<Spawn>[1]> {
  return stdin === undefined ? options : { ...options, input: stdin };
}
