import { Cancelled, UsageError } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { tenantHome } from "../../domain/kit/ids.ts";
import { nearestName } from "../../domain/kit/names.ts";
import { ConversationPrograms } from "../../environment/conversation_programs.ts";
import type { ExtensionRegistry } from "../../extension/registry/registry.ts";
import type { CliCommand, Extension } from "../../extension/spec.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import { commandShape, schemaKind } from "./command_shape.ts";
import { CommandStore } from "./command_store.ts";

interface Options {
  readonly loaded: readonly Extension[];
  readonly registry: ExtensionRegistry;
  readonly settings: Settings;
  readonly print: (text: string) => void;
  readonly ask: (question: string) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
  readonly parts: Pick<ShippedParts, "described"> & { readonly env: EnvironmentVariables };
}

/** Runs `args` as a command of the first extension that has one of this name; null if none has. */
export async function runExtensionCommand(
  [name, ...words]: readonly string[],
  options: Options,
): Promise<number | null> {
  for (const extension of options.loaded) {
    const command = extension.cli?.find((one) => one.name === name);
    if (!command) continue;
    if (words.includes("--help") || words.includes("-h")) {
      options.print(`${usageOf(command)}\n\n${command.doc}\n`);
      return 0;
    }
    const { print, ask, settings: { workspace, home: whole, tenant } } = options;
    const home = tenantHome(whole, tenant);
    const config = options.registry.configOf(extension.namespace);
    const given = readArguments(command, words);
    await using database = new CommandStore(options.settings);
    const store = database.of(extension.namespace);
    const programs = new ConversationPrograms();
    const spawn = programs.bind(wallOf(options), { workspace, signal: programs.closed });
    try {
      const ran = Promise.resolve(command.run(given, { print, ask, workspace, home, config, store, spawn }));
      const code = await abortable(ran, options.signal);
      return typeof code === "number" ? code : 0;
    } catch (error) {
      throw options.signal?.aborted ? new Cancelled("Cancelled") : error;
    } finally {
      await programs.close();
    }
  }
  return null;
}

/** The wall of commands, loaded with the first program. */
function wallOf({ settings, parts }: Options): Parameters<ConversationPrograms["bind"]>[0] {
  const load = async () => {
    const { openPrograms } = await import("../settings/open_programs.ts");
    return openPrograms(settings, { env: parts.env, parts });
  };
  let programs: ReturnType<typeof load> | null = null;
  return async (workspace, argv, options, caller) =>
    await (await (programs ??= load())).spawn(workspace, argv, options, caller);
}

/** Positional words are the required keys in order, `--key value` sets the others; a boolean is a flag without a
 * value. */
function readArguments(command: CliCommand, words: readonly string[]): unknown {
  const shape = command.args?.shape ?? {};
  const { required } = commandShape(command);
  const given: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, key = "", inline] = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (key === "") {
      const next = required.find((one) => !Object.hasOwn(given, one));
      if (next === undefined) throw misused(command, `${word} is one argument too many`);
      given[next] = typed(shape[next], word);
    } else if (!Object.hasOwn(shape, key)) throw misused(command, noFlag(key, Object.keys(shape)));
    else if (schemaKind(shape[key]) === "boolean" && inline === undefined) given[key] = true;
    else given[key] = typed(shape[key], inline ?? words[++at] ?? "");
  }
  if (!command.args) return given;
  const checked = command.args.safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw misused(command, `${issue?.path.join(".")}: ${issue?.message}`);
}

function noFlag(key: string, names: readonly string[]): string {
  const near = nearestName(key, names);
  return `unknown option --${key}${near === null ? "" : `; did you mean --${near}?`}`;
}

function typed(type: unknown, word: string): unknown {
  const kind = schemaKind(type);
  if (kind === "number" && word.trim() !== "") return Number(word);
  return kind === "boolean" ? word === "true" : word;
}

function misused(command: CliCommand, why: string): UsageError {
  return new UsageError(`Cannot run ${command.name}: ${why}; usage: ${usageOf(command)}`);
}

function usageOf(command: CliCommand): string {
  const { required, optional } = commandShape(command);
  const flags = optional.map(({ key, kind }) => `[--${key}${kind === "boolean" ? "" : ` <${kind}>`}]`);
  return ["vis", command.name, ...required.map((key) => `<${key}>`), ...flags].join(" ");
}
