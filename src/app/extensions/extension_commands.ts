import { Cancelled, UsageError } from "../../domain/errors.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { DEFAULT_TENANT, tenantHome } from "../../domain/kit/ids.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { ExtensionCommandFacts } from "../../domain/reports.ts";
import { ConversationPrograms, ExtensionStore } from "../../environment/environment_views.ts";
import { discoverFolders } from "../../extension/discover.ts";
import type { ExtensionRegistry } from "../../extension/registry.ts";
import type { CliCommand, Extension, OwnStore } from "../../extension/spec.ts";
import { openStore } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store.ts";
import { programsOf } from "../settings/programs.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";
import { buildRegistry } from "./extension_source.ts";
import type { ShippedParts } from "./shipped.ts";

interface Options {
  readonly loaded: readonly Extension[];
  readonly registry: ExtensionRegistry;
  readonly settings: Settings;
  readonly print: (text: string) => void;
  readonly ask: (question: string) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
  readonly parts: Pick<ShippedParts, "shipped"> & { readonly env: EnvironmentVariables };
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
    const { spawn: walled } = programsOf(options.settings, options.parts);
    const spawn = programs.bind(walled, { workspace, signal: programs.closed });
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

/** Commands that extensions add, for completion. */
export async function extensionCommands(
  settings: Settings,
  parts: ShippedParts,
): Promise<readonly ExtensionCommandFacts[]> {
  const { loaded } = await buildRegistry(settings, parts, { folders: await discoverFolders(settings) });
  return loaded.flatMap(({ cli = [] }) =>
    cli.map((command) => ({
      name: command.name,
      doc: command.doc.split("\n", 1)[0] ?? "",
      flags: commandShape(command).optional.map(({ key, kind }) => ({ flag: `--${key}`, kind })),
    }))
  );
}

/** The arguments of an extension's command. */
interface CommandShape {
  /** Keys of the positional arguments, in order. */
  readonly required: readonly string[];
  /** The other keys: passed as `--key value`, or as a flag if boolean. */
  readonly optional: readonly { readonly key: string; readonly kind: string }[];
}

function commandShape({ args }: CliCommand): CommandShape {
  const entries = Object.entries(args?.shape ?? {});
  const isOptional = (type: (typeof entries)[number][1]): boolean => type.safeParse(undefined).success;
  return {
    required: entries.filter(([, type]) => !isOptional(type)).map(([key]) => key),
    optional: entries.filter(([, type]) => isOptional(type)).map(([key, type]) => ({ key, kind: schemaKind(type) })),
  };
}

/** The kind of a schema without defaults and other wrappers: "string", "number", "boolean", … */
function schemaKind(type: unknown): string {
  let inner = type;
  for (let depth = 0; depth < 10; depth++) {
    const def: unknown = Reflect.get(Object(inner), "def");
    const next: unknown = Reflect.get(Object(def), "innerType");
    if (next === undefined) return String(Reflect.get(Object(def), "type"));
    inner = next;
  }
  return "";
}

type Opening = Pick<Settings, "database" | "databasePassword" | "workspace" | "tenant">;

/** The database for a command of an extension, opened by its first use. */
class CommandStore implements AsyncDisposable {
  readonly #settings: Opening;
  #opened: Promise<Store> | null = null;

  constructor(settings: Opening) {
    this.#settings = settings;
  }

  of(namespace: string): OwnStore {
    const { workspace } = this.#settings;
    const open = () => this.#open();
    const states = async () => (await open()).states;
    return new ExtensionStore({
      states: {
        put: async (...args) => await (await states()).put(...args),
        get: async (...args) => await (await states()).get(...args),
        history: async (...args) => await (await states()).history(...args),
        list: async (...args) => await (await states()).list(...args),
        query: async (...args) => await (await states()).query(...args),
        delete: async (...args) => await (await states()).delete(...args),
      },
      putLarge: async (...args) => await (await open()).putLarge(...args),
      largePieces: async function* (large) {
        yield* (await open()).largePieces(large);
      },
      dropLarge: async (large) => await (await open()).dropLarge(large),
    }, { namespace, workspace });
  }

  #open(): Promise<Store> {
    const { database: path, databasePassword: password, tenant = DEFAULT_TENANT } = this.#settings;
    return this.#opened ??= openStore({ path, password }).then((store) => store.of(tenant));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const store = await this.#opened?.catch(() => null);
    await store?.close();
  }
}
