import { commandText, type EnvironmentView, isSecretFile } from "@vis/extension";
import { realpath } from "node:fs/promises";
import ownPath, { relative, resolve } from "node:path";
import { type CommandRules, refusedBy } from "./rules.ts";

/** A command line for `/bin/sh`, or a program with its arguments. */
export type ShellCommand = string | readonly string[];

/** Options of a command. The user is asked for a network, and for paths outside the workspace that it may change. */
export interface CommandOptions extends Pick<SpawnOptions, "timeoutMs" | "cwd" | "env" | "network" | "write"> {
  readonly stdin?: string;
  /** Files of the workspace that may hold keys and that the command sees, if the user allows it. */
  readonly secrets?: readonly string[];
}

/** What a command reads in a file that is hidden from it; a comment in most formats. */
const INSTEAD = "# Hidden from commands: shell.run(command, {secrets: [path]}) asks the user for it\n";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type SpawnOptions = NonNullable<Parameters<Spawn>[1]>;

/** How to run a command. Rejects if a rule refuses it, if commands cannot run, or if the user does not allow what it
 * asks for. */
export async function allowed(
  env: EnvironmentView,
  command: ShellCommand,
  asked: Omit<CommandOptions, "timeoutMs">,
): Promise<(...options: [Parameters<Spawn>[1]]) => ReturnType<Spawn>> {
  const { spawn } = env;
  if (!spawn) throw new Error("Cannot run commands here: this conversation has no wall for them");
  const refusal = refusedBy(env.config as CommandRules | undefined, command);
  if (refusal !== null) throw new Error(refusal);
  const argv = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  // Commands of a conversation reach each other's servers.
  const { cwd, env: variables, stdin } = asked;
  const shown = commandText(command, {
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(variables ? { env: variables } : {}),
    ...(stdin === undefined ? {} : { input: stdin }),
  });
  const more = await approved(env, { ...asked, shown });
  const unwalled = (await env.programWalls?.())?.unwalled;
  if (unwalled?.mode === "run") {
    env.warn?.(`Commands ran without a question, and their wall is not whole: ${unwalled.reason}`);
  }
  return async (options) => {
    const ended = await spawn(argv, { ...options, ...more, loopback: env.conversationId });
    const { obeyed, repositories } = ended;
    if (obeyed) env.warn?.(`A command changed what git runs or obeys here: ${obeyed.join(", ")}`);
    if (repositories) {
      env.warn?.(
        `A command made a repository in ${
          repositories.join(", ")
        }: its settings count for git there, and above once git add -A has added it`,
      );
    }
    return ended;
  };
}

/** What the command gets beyond the usual; the user is asked for what the settings do not give. */
async function approved(
  env: EnvironmentView,
  { shown, network = false, write = [], secrets = [] }: Pick<CommandOptions, "network" | "write" | "secrets"> & {
    /** The command with all that it is given. */
    readonly shown: string;
  },
): Promise<Pick<SpawnOptions, "network" | "write" | "hideSecrets">> {
  const { workspace, programWalls } = env;
  const seen = await Promise.all(secrets.map((path) => realpath(resolve(workspace, path)).catch(() => path)));
  for (const path of seen) {
    const named = relative(workspace, path);
    if (!isInside(workspace, path) || !isSecretFile(named, env.secrets ?? [])) continue;
    await ask(env, {
      what: `let a command read ${named}, which may hold keys: ${shown}`,
      scope: `the secret file ${named} for commands`,
      setting: null,
    });
  }
  const repository = resolve(workspace, ".git");
  const changesRepository = write.some((path) => isInside(repository, resolve(workspace, path)));
  if (changesRepository) {
    await ask(env, {
      what: `let a command change this repository's history and settings: ${shown}`,
      scope: "commands that change this repository's history and settings",
      setting: null,
    });
  }
  const others = write.map((path) => resolve(workspace, path)).filter((path) => !isInside(repository, path));
  const named = await Promise.all(others.map(realPath));
  const paths = named.filter((path) => !isInside(workspace, path));
  for (const path of paths) {
    await ask(env, {
      what: `let a command change ${path}: ${shown}`,
      scope: `commands that change ${path}`,
      setting: null,
    });
  }
  if (network && !(await programWalls?.())?.network) {
    await ask(env, {
      what: `run a command with access to the network: ${shown}`,
      scope: "network for commands",
      setting: "vis config set shell.network true",
    });
  }
  for (const path of [...paths, ...seen]) {
    if (await realpath(path).catch(() => path) === path) continue;
    throw new Error(
      `Cannot run the command with ${path}: it is a link now, and leads elsewhere than the user was shown`,
    );
  }
  const hideSecrets = { except: seen, instead: INSTEAD };
  return {
    hideSecrets,
    ...(network ? { network } : {}),
    ...(paths.length > 0 || changesRepository
      ? { write: [workspace, ...changesRepository ? [repository] : [], ...paths] }
      : {}),
  };
}

/** The user is asked for the path that links lead to. */
async function realPath(path: string): Promise<string> {
  return await realpath(path).catch(() => {
    throw new Error(`Cannot run a command that changes ${path}: it does not exist`);
  });
}

async function ask(
  { approve }: EnvironmentView,
  { what, scope, setting }: { readonly what: string; readonly scope: string; readonly setting: string | null },
): Promise<void> {
  const { allowed = false, reason = "nobody can be asked here" } = await approve?.({ what, why: "", scope }) ?? {};
  if (allowed) return;
  const hint = setting === null ? "" : `; ${setting} allows it without a question`;
  throw new Error(`Cannot allow ${scope}: ${reason}${hint}`);
}

/** Whether a path is the folder or in it. */
export function isInside(folder: string, path: string, { relative, isAbsolute, sep } = ownPath): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The same options under the names of `spawn`. */
export function spawnOptions(
  { stdin, network: _asked, write: _askedToo, secrets: _seen, ...options }: CommandOptions,
): NonNullable<Parameters<Spawn>[1]> {
  return stdin === undefined ? options : { ...options, input: stdin };
}
