import { createHash } from "node:crypto";
import { basename, dirname, join, relative, resolve } from "node:path";
import { z } from "zod";
import { COMMANDS } from "../../channels/cli/cli.ts";
import { settingList } from "../../config/setting_list.ts";
import { counted } from "../../domain/kit/text.ts";
import { Cancelled, ConfigError, faultOf, fileFault, messageOf, reasonOf, UsageError } from "../../domain/errors.ts";
import { inputFault } from "../../domain/input_fault.ts";
import { readBounded } from "../../domain/kit/bytes.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { isBelow } from "../../domain/kit/files.ts";
import { DEFAULT_TENANT, tenantHome } from "../../domain/kit/ids.ts";
import { readForeignJson } from "../../domain/kit/json.ts";
import { nearestName, patternsFromTop } from "../../domain/kit/names.ts";
import type {
  ExtensionAdmin,
  ExtensionCheck,
  ExtensionCommandFacts,
  ExtensionFacts,
  TrustFacts,
} from "../../domain/admin_reports.ts";
import type { SettingsSection } from "../../domain/settings_section.ts";
import { ConversationPrograms } from "../../environment/environment_for_extensions.ts";
import { ExtensionStore } from "../../environment/extension_store.ts";
import { messageWithLine } from "../../extension/active_extensions.ts";
import { discoverFolders, type FoundFolder, isWanted } from "../../extension/discover.ts";
import { type ExtensionFolder, extensionOfFiles, readExtensionFolder } from "../../extension/folder.ts";
import type { Skipped } from "../../extension/loader.ts";
import { readTar } from "../../extension/read_tar.ts";
import type { ExtensionRegistry } from "../../extension/registry.ts";
import { type CliCommand, type Extension, type OwnStore, TAKEN_NAMES } from "../../extension/spec.ts";
import { openStore } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store.ts";
import {
  type EnvironmentVariables,
  programsOf,
  rootOf,
  secretsIn,
  type Settings,
  settingsSectionsOf,
  shippedExtensions,
  type ShippedParts,
} from "../settings/settings.ts";
import {
  checkCommands,
  checkExtensions,
  lacksEnabled,
  newExtension,
  schemaKind,
  testExtensions,
} from "./check_extensions.ts";
import { buildRegistry, folderOptionsOf, unknownExtensions } from "./extension_source.ts";

const REQUEST_NAME = /^[a-z][a-z0-9-]*$/;
const ANY = z.record(z.string(), z.unknown());

export class AppExtensionAdmin implements ExtensionAdmin {
  readonly #settings: Settings;
  readonly #parts: ShippedParts & { readonly env: EnvironmentVariables };

  constructor(settings: Settings, parts: ShippedParts & { readonly env: EnvironmentVariables }) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async list(): Promise<readonly ExtensionFacts[]> {
    const { loaded, skipped, unwanted, folders } = await this.#load({ off: true });
    return [
      ...loaded.map((one) => this.#whetherOff(one, factsOf(one, folders.get(one.namespace)))),
      ...[...skipped, ...unwanted].map(skippedFacts),
    ];
  }

  async settings(): Promise<readonly SettingsSection[]> {
    const { config } = this.#settings;
    // An invalid section would exclude its extension, so Vis loads the extensions without their sections.
    const settings = { ...this.#settings, config: { ...config, extensions: { ...config.extensions, config: {} } } };
    const { loaded, skipped, folders } = await buildRegistry(settings, this.#parts, {
      folders: await discoverFolders(settings),
      off: true,
    });
    const section = (namespace: string, schema: z.ZodType): SettingsSection => {
      const none = { project: [], own: [], programs: {}, offered: {} };
      return { namespace, name: null, ...none, schema: () => Promise.resolve(schema) };
    };
    return [
      ...loaded.filter(({ namespace }) => folders.has(namespace))
        .map(({ namespace, config = z.strictObject({}) }) => section(namespace, config)),
      ...skipped.filter(({ folder }) => folder !== undefined).map(({ name }) => section(name, ANY)),
    ];
  }

  async show(name: string): Promise<ExtensionFacts & { readonly text: string }> {
    const { loaded, skipped, unwanted, folders, registry } = await this.#load({ off: true });
    const found = loaded.find((one) => one.namespace === name || one.alias.alias === name);
    if (!found) {
      const left = [...skipped, ...unwanted].find((one) => one.name === name || one.extension?.namespace === name);
      if (left) return { ...skippedFacts(left), text: "" };
      throw new UsageError(
        `Cannot show extension ${name}: Vis has loaded no extension with this name; vis extensions list shows all ` +
          "extensions",
      );
    }
    const { alias } = found.alias;
    const { workspace } = this.#settings;
    const view = { envId: "show", conversationId: "", branchId: "", depth: 0, workspace };
    const text = (await registry.activate(view)).doc(alias) ??
      "The extension is not active outside a conversation; vis prompt shows the prompt of a request";
    // An inactive extension has no functions, so their texts come from a copy that is always active.
    registry.registerFor(view.envId, { ...found, activate: () => true });
    const active = await registry.activate(view);
    const docs = (found.symbols ?? []).map((symbol) => active.doc(`${alias}.${symbol.name}`) ?? "");
    const modules = Object.keys(found.modules ?? {});
    const names = modules.length > 0 ? [`In the sandbox by bare names: ${modules.join(", ")}`] : [];
    const from = [found.author, found.license].filter((one) => one !== undefined).join(", ");
    const all = [...(from === "" ? [] : [`From: ${from}`]), text, ...names, ...docs, ...settingLines(found)];
    return { ...this.#whetherOff(found, factsOf(found, folders.get(found.namespace))), text: all.join("\n\n") };
  }

  async check(path: string | null): Promise<readonly ExtensionCheck[]> {
    if (path === null) {
      const { loaded, skipped, folders } = await this.#load({ off: true });
      return [
        ...loaded.map(({ namespace, version }) => ({ what: namespace, ok: true, found: version })),
        ...checkCommands(loaded.filter(({ namespace }) => folders.has(namespace))),
        ...skipped.map(({ name, reason }) => ({ what: name, ok: false, found: reason })),
      ];
    }
    const folder: FoundFolder = { place: this.#placeOf(resolve(path)), path: resolve(path) };
    return await checkExtensions(folder, { settings: this.#settings, parts: this.#parts });
  }

  async test(path: string): Promise<readonly ExtensionCheck[]> {
    const folder = resolve(path);
    return await testExtensions({ place: this.#placeOf(folder), path: folder }, this.#settings);
  }

  changes(path: string): AsyncIterable<void> {
    return folderChanges(resolve(path));
  }

  async create(path: string): Promise<string> {
    const folder = resolve(this.#settings.workspace, path), name = basename(folder);
    const holder = [...(await shippedExtensions(this.#parts)).values()].find(({ alias }) => alias.alias === name);
    const fault = holder
      ? `the extension ${holder.namespace} has this alias`
      : TAKEN_NAMES.has(name)
      ? "the name is a reserved word or a name of the sandbox"
      : null;
    if (fault !== null) throw new UsageError(`Cannot create extension ${name}: ${fault}; choose another name`);
    return await newExtension(folder);
  }

  async add(from: string, { replace }: { readonly replace: boolean }): Promise<string> {
    const folder = await asUsage(() => this.#read(from));
    const [first] = folder.entries;
    const shipped = new Set([...(await shippedExtensions(this.#parts)).values()].map(({ namespace }) => namespace));
    const taken = folder.entries.find(({ namespace }) => shipped.has(namespace));
    if (taken) {
      throw new UsageError(
        `Cannot add ${from}: a shipped extension has the namespace ${taken.namespace}; choose another ` +
          "namespace, or load the folder with vis run --extension, which replaces the shipped extension",
      );
    }
    const target = join(this.#own(), first?.namespace ?? basename(from));
    if (await exists(target)) {
      if (!replace) throw new UsageError(`Cannot add ${from}: ${target} already exists; --force replaces it`);
    }
    const fresh = join(this.#own(), `.${crypto.randomUUID()}`);
    try {
      for (const [path, bytes] of folder.files) {
        await Deno.mkdir(dirname(join(fresh, path)), { recursive: true, mode: 0o700 });
        await Deno.writeFile(join(fresh, path), bytes);
      }
      if (replace) await Deno.remove(target, { recursive: true }).catch(() => {});
      await Deno.rename(fresh, target);
    } catch (error) {
      await Deno.remove(fresh, { recursive: true }).catch(() => {});
      throw this.#unwritten(`add ${from}`, error);
    }
    return target;
  }

  async remove(name: string): Promise<string> {
    const own: { readonly path: string; readonly names: readonly string[] }[] = [];
    for (const { place, path, fault } of await discoverFolders(this.#settings)) {
      if (place !== "home" || fault !== undefined) continue;
      const named = await readExtensionFolder(path).then(({ entries }) => entries, () => []);
      own.push({ path, names: [basename(path), ...named.map(({ namespace }) => namespace)] });
    }
    const exact = own.find(({ names }) => names.includes(name));
    const short = own.filter(({ names }) => names.some((one) => one.split(".").at(-1) === name));
    const found = exact ?? (short.length === 1 ? short[0] : undefined);
    if (found) {
      try {
        await Deno.remove(found.path, { recursive: true });
      } catch (error) {
        throw this.#unwritten(`remove extension ${name}`, error);
      }
      return found.path;
    }
    const choices = (short.length > 1 ? short : own).map(({ path }) => basename(path)).join(", ");
    const why = short.length > 1
      ? `several extensions in ${this.#own()} have the short name ${name}`
      : `no extension in ${this.#own()} has this name`;
    throw new UsageError(
      `Cannot remove extension ${name}: ${why}; ${
        choices === "" ? "extensions.deny leaves out shipped extensions" : `choose one of ${choices}`
      }`,
    );
  }

  async unknown(names: readonly string[]): Promise<readonly string[]> {
    return await unknownExtensions(names, { settings: this.#settings, parts: this.#parts });
  }

  async trustable(path: string | null): Promise<readonly TrustFacts[]> {
    const found = path === null
      ? (await discoverFolders(this.#settings))
        .filter(({ place, fault }) => place === "project" && fault === undefined).map((one) => one.path)
      : [await Deno.realPath(path).catch(() => resolve(path))];
    const { trust } = await folderOptionsOf(this.#settings);
    return await Promise.all(found.map((one) =>
      asUsage(async () => {
        const folder = await readExtensionFolder(one);
        return trustFacts(folder, await trust.has(one, folder.hash));
      })
    ));
  }

  async trust({ path, hash, extensions }: TrustFacts): Promise<void> {
    const folder = await asUsage(() => readExtensionFolder(path));
    if (folder.hash !== hash) {
      throw new UsageError(
        `Cannot trust ${path}: its files have changed since Vis showed them; run vis extensions trust again`,
      );
    }
    const { trust } = await folderOptionsOf(this.#settings);
    const namespaces = extensions.map(({ namespace }) => namespace);
    await trust.add({ path, hash, namespaces, at: new Date().toISOString() });
  }

  async distrust(path: string): Promise<boolean> {
    const { trust } = await folderOptionsOf(this.#settings);
    return await trust.remove(await Deno.realPath(path).catch(() => resolve(path)));
  }

  async commands(): Promise<readonly ExtensionCommandFacts[]> {
    return await extensionCommands(this.#settings, this.#parts);
  }

  async requests(
    named: readonly string[] = [],
    { root = rootOf(this.#settings, this.#parts.env) }: { readonly root?: string | null } = {},
  ): ReturnType<ExtensionAdmin["requests"]> {
    const settings = this.#settings, { workspace, tenant } = settings;
    const home = tenantHome(settings.home, tenant), secrets = secretsIn(settings, workspace);
    const place = { workspace, ...(root === null ? {} : { root }), home, secrets, ...(tenant ? { tenant } : {}) };
    const found = await discoverFolders({ ...settings, paths: named.map((path) => resolve(path)) });
    const folders = settings.locked ? found.filter((one) => one.place !== "project") : found;
    const { loaded } = await buildRegistry(settings, this.#parts, { folders });
    const lists = await Promise.allSettled(loaded.map(async ({ requests }) => await requests?.(place) ?? []));
    return lists.flatMap((list) => list.status === "fulfilled" ? list.value : [])
      .filter(({ name }) => REQUEST_NAME.test(name));
  }

  async run(
    args: readonly string[],
    { print, ask = nobody, signal, candidate }: Parameters<ExtensionAdmin["run"]>[1],
  ): Promise<number | null> {
    const config = candidate
      ? withValue(
        this.#settings.config,
        (await settingsSectionsOf(this.#parts)).path(candidate.key),
        candidate.value,
      ) as Settings["config"]
      : this.#settings.config;
    const settings = { ...this.#settings, config };
    const { loaded, registry } = await buildRegistry(settings, this.#parts, {
      folders: await discoverFolders(settings),
    });
    return await runExtensionCommand(args, {
      loaded,
      registry,
      settings,
      parts: this.#parts,
      print,
      ask,
      signal,
    });
  }

  #whetherOff(extension: Extension, facts: ExtensionFacts): ExtensionFacts {
    const { namespace, alias: { alias }, section = `extensions.config.${namespace}` } = extension;
    const name = facts.place === "shipped" ? alias : namespace;
    if (isWanted(name, extension, this.#settings.config.extensions)) return facts;
    const advice = lacksEnabled(extension)
      ? "its config declares no enabled"
      : `vis config set ${section}.enabled true`;
    return { ...facts, state: "off", reason: `it is off: ${advice}` };
  }

  async #load({ off = false } = {}) {
    const settings = this.#settings;
    return await buildRegistry(settings, this.#parts, { folders: await discoverFolders(settings), off });
  }

  async #read(from: string): Promise<ExtensionFolder> {
    if (from.startsWith("npm:")) return extensionOfFiles(from, await fetchPackage(from, this.#parts.env));
    const path = resolve(from);
    const found = await Deno.stat(path).catch((error: unknown) => {
      throw new UsageError(`Cannot read extension ${path}: ${fileFault(error)}; for a package, write npm:NAME@VERSION`);
    });
    if (found.isDirectory) return await readExtensionFolder(path);
    return extensionOfFiles(path, await readTar(await Deno.readFile(path), { name: path }));
  }

  #own(): string {
    const { home } = this.#settings;
    if (home === null) {
      throw new ConfigError(
        "Cannot find the folder of your extensions: Vis has no home folder; set VIS_HOME to a writable folder",
      );
    }
    return join(home, "extensions");
  }

  #unwritten(action: string, error: unknown): UsageError {
    return new UsageError(`Cannot ${action}: ${fileFault(error)}; Vis must be able to write in ${this.#own()}`);
  }

  #placeOf(path: string): FoundFolder["place"] {
    return isBelow(path, join(this.#settings.workspace, ".vis")) ? "project" : "path";
  }
}

function withValue(root: unknown, [key, ...below]: readonly string[], value: unknown): unknown {
  return key === undefined ? value : { ...Object(root), [key]: withValue(Object(root)[key], below, value) };
}

function factsOf(extension: Extension, folder: FoundFolder | undefined): ExtensionFacts {
  const { namespace, version, alias, doc, cli = [] } = extension;
  return {
    name: namespace,
    place: folder?.place ?? "shipped",
    state: "loaded",
    version,
    alias: alias.alias,
    doc,
    path: folder?.path ?? "",
    reason: "",
    commands: cli.map(({ name }) => name).filter((name) => folder === undefined || !COMMANDS.includes(name)),
  };
}

function settingLines({ namespace, config }: Extension): readonly string[] {
  if (!config) return [];
  const all = settingList(z.toJSONSchema(config, { io: "input", unrepresentable: "any" }));
  const lines = all.map(({ key, type, default: given, doc }) => {
    const value = given === undefined ? "" : ` = ${JSON.stringify(given)}`;
    return `  ${key}: ${type}${value}${doc === "" ? "" : `  // ${doc}`}`;
  });
  return lines.length === 0 ? [] : [`Settings, in extensions.config.${namespace}:\n${lines.join("\n")}`];
}

function skippedFacts({ name, state, reason, folder, extension }: Skipped): ExtensionFacts {
  if (extension) return { ...factsOf(extension, folder), state, reason };
  const place = folder?.place ?? "shipped";
  return { name, place, state, version: "", alias: "", doc: "", path: folder?.path ?? "", reason, commands: [] };
}

function trustFacts({ path, hash, files, entries }: ExtensionFolder, trusted: boolean): TrustFacts {
  return {
    path,
    hash,
    trusted,
    files: [...files].map(([file, bytes]) => ({ path: file, bytes: bytes.length })),
    extensions: entries.map(({ namespace, version, requires, allow }) => ({
      namespace,
      version,
      requires,
      allow: Object.entries(allow).flatMap(([kind, grants]) => grants.map((grant) => `${kind} ${grant}`)),
    })),
  };
}

async function asUsage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConfigError ? error : new UsageError(messageOf(error));
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

function nobody(): Promise<never> {
  return Promise.reject(
    new UsageError("Cannot ask you a question: the command has no terminal; run it in a terminal"),
  );
}

/** An editor may write a file in several steps, so Vis waits until the folder has not changed for this time. */
const QUIET_MS = 100;

async function* folderChanges(folder: string): AsyncGenerator<void> {
  using watcher = Deno.watchFs(folder);
  let wake = Promise.withResolvers<void>();
  let quiet: ReturnType<typeof setTimeout> | undefined;
  const reading = (async () => {
    for await (const { kind } of watcher) {
      if (kind === "access") continue;
      clearTimeout(quiet);
      quiet = setTimeout(() => wake.resolve(), QUIET_MS);
    }
  })();
  try {
    for (;;) {
      await wake.promise;
      wake = Promise.withResolvers();
      yield;
    }
  } finally {
    clearTimeout(quiet);
    watcher.close();
    await reading;
  }
}

const MAX_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const Version = z.object({ dist: z.object({ tarball: z.url(), integrity: z.string().regex(/\bsha512-/) }) });

/** Verifies the registry's SHA-512 checksum, fetches no dependency, and runs no code of the package. */
export async function fetchPackage(ref: string, env: EnvironmentVariables): Promise<ReadonlyMap<string, Uint8Array>> {
  const [, name, version = "latest"] = /^npm:((?:@[\w.-]+\/)?[\w.-]+)(?:@([\w.+-]+))?$/.exec(ref) ?? [];
  if (!name) {
    throw new UsageError(
      `Cannot add ${ref}: its name or version is not valid; write a package such as npm:vis-search@1.0.0`,
    );
  }
  const registry = (env["npm_config_registry"] || await askNpm()).replace(/\/+$/, "");
  const facts = Version.safeParse(parsed(await get(`${registry}/${name.replace("/", "%2f")}/${version}`)));
  if (!facts.success) {
    throw new UsageError(
      `Cannot add ${ref}: ${registry} gives no download address or no SHA-512 checksum for it; choose another version, ` +
        "or set npm_config_registry to another registry",
    );
  }
  const { tarball, integrity } = facts.data.dist;
  const bytes = await get(tarball);
  const hash = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (!integrity.split(" ").includes(hash)) {
    throw new UsageError(
      `Cannot add ${ref}: its content does not match the registry's checksum; try again or report it to ` +
        "the publisher",
    );
  }
  return await readTar(bytes, { name: ref });
}

async function askNpm(): Promise<string> {
  const address = await registryOfNpm().catch(() => "");
  if (URL.canParse(address)) return address;
  throw new UsageError(
    "Cannot find a package registry: npm is not installed, or `npm config get registry` gave no URL; set npm_config_registry to the URL of a registry",
  );
}

async function registryOfNpm(): Promise<string> {
  const npm = new Deno.Command("npm", { args: ["config", "get", "registry"], stdin: "null", stderr: "null" });
  return new TextDecoder().decode((await npm.output()).stdout).trim();
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return readForeignJson(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}

async function get(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal });
    if (response.ok && response.body) {
      return await readBounded(response.body, {
        maxBytes: MAX_BYTES,
        tooLarge: () =>
          new UsageError(
            `Cannot fetch ${url}: its content is larger than ${MAX_BYTES / 1024 / 1024} MiB, the limit; choose a ` +
              "smaller package",
          ),
        signal,
      });
    }
    await response.body?.cancel();
    throw new Error(`The registry responded with status ${response.status}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = signal.aborted ? `it took longer than ${TIMEOUT_MS / 1000} s, the limit` : reasonOf(error);
    throw new UsageError(`Cannot fetch ${url}: ${why}; check the name and version of the package, or try again later`);
  }
}

interface Options {
  readonly loaded: readonly Extension[];
  readonly registry: ExtensionRegistry;
  readonly settings: Settings;
  readonly print: (text: string) => void;
  readonly ask: (question: string) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
  readonly parts: Pick<ShippedParts, "shipped"> & { readonly env: EnvironmentVariables };
}

async function runExtensionCommand(
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
    const { print, ask, settings: { workspace, home: whole, tenant, locked } } = options;
    const home = tenantHome(whole, tenant);
    const config = options.registry.configOf(extension.namespace);
    const given = readArguments(command, words);
    await using database = new CommandStore(options.settings);
    const store = database.of(extension.namespace);
    const programs = new ConversationPrograms();
    const { spawn: walled } = programsOf(options.settings, options.parts);
    const root = rootOf(options.settings, options.parts.env);
    const place = root === null || root === workspace ? { workspace } : { workspace, root };
    const secrets = patternsFromTop(secretsIn(options.settings, workspace), relative(root ?? workspace, workspace));
    const spawn = programs.bind(walled, { ...place, signal: programs.closed });
    try {
      const ran = Promise.resolve(
        command.run(given, { print, ask, ...place, home, secrets, config, store, ...(locked ? {} : { spawn }) }),
      );
      const code = await abortable(ran, options.signal);
      return typeof code === "number" ? code : 0;
    } catch (error) {
      if (options.signal?.aborted) throw new Cancelled("Cancelled");
      throw faultOf(error) === null ? new Error(messageWithLine(error), { cause: error }) : error;
    } finally {
      await programs.close();
    }
  }
  return null;
}

function readArguments(command: CliCommand, words: readonly string[]): unknown {
  const shape = command.args?.shape ?? {};
  const { required } = commandShape(command);
  const given: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, key = "", inline] = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (key === "") {
      const next = required.find((one) => !Object.hasOwn(given, one));
      if (next === undefined) {
        throw misused(command, `it takes ${counted(required.length, "argument")}, and ${word} is one too many`);
      }
      given[next] = typed(shape[next], word);
    } else if (!Object.hasOwn(shape, key)) throw misused(command, noFlag(key, Object.keys(shape)));
    else if (schemaKind(shape[key]) === "boolean" && inline === undefined) given[key] = true;
    else given[key] = typed(shape[key], inline ?? words[++at] ?? "");
  }
  if (!command.args) return given;
  const checked = command.args.safeParse(given, { error: inputFault });
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw misused(command, `${issue?.path.join(".")} ${issue?.message}`);
}

function noFlag(key: string, names: readonly string[]): string {
  const near = nearestName(key, names);
  return `it has no option --${key}${near === null ? "" : ` (did you mean --${near}?)`}`;
}

function typed(type: unknown, word: string): unknown {
  const kind = schemaKind(type);
  if (kind === "number" && word.trim() !== "") return Number(word);
  return kind === "boolean" ? word === "true" : word;
}

function misused(command: CliCommand, why: string): UsageError {
  return new UsageError(`Cannot run ${command.name}: ${why}; write ${usageOf(command)}`);
}

function usageOf(command: CliCommand): string {
  const { required, optional } = commandShape(command);
  const flags = optional.map(({ key, kind }) => `[--${key}${kind === "boolean" ? "" : ` <${kind}>`}]`);
  return ["vis", command.name, ...required.map((key) => `<${key}>`), ...flags].join(" ");
}

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

interface CommandShape {
  readonly required: readonly string[];
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

type Opening = Pick<Settings, "database" | "databasePassword" | "workspace" | "tenant">;

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
      largePieces: async function* (...of) {
        yield* (await open()).largePieces(...of);
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
