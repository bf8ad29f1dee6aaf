/** Writes extensions/index.ts: the literal `import()` of every shipped extension, and descriptions, so that a query can
 * begin without loading these extensions. An extension has one if its `vis.json` calls it static (always active, the
 * same prompt everywhere) or live (what depends on the conversation is in a module that loads quickly). */
import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { withScripts } from "../../src/extension/import_folder.ts";
import { type DescribedSettings, type ExtensionDescription, PROMPT_PLACE } from "../../src/extension/lazy_registry.ts";
import { unshownLines } from "../../src/extension/prompt_block.ts";
import { settingMarks } from "../../src/extension/read_config.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import { type EnvironmentView, type Extension, validate } from "../../src/extension/mod.ts";
import { REALM_SCRIPTS } from "../../src/extension/validate.ts";
import { realmModuleReader } from "../../src/sandbox/modules/realm_module.ts";

const FOLDER = new URL("../../extensions/", import.meta.url);
const NO_LOG = { debug() {}, info() {}, warn() {}, error() {} };
const NOWHERE: EnvironmentView = { envId: "", conversationId: "", branchId: "", depth: 0, workspace: "" };

/** What a query gets from an extension without loading it. Throws if the extension depends on the conversation. */
export async function describe(extension: Extension, view: EnvironmentView = NOWHERE): Promise<ExtensionDescription> {
  const registry = new ExtensionRegistry({ log: NO_LOG });
  registry.register(extension);
  const {
    list: [facts],
    functions,
    actions,
    untimed,
    reads,
    constants,
    grants,
    globals,
    blocks: [block],
    nudges,
    doc,
    example,
  } = await registry
    .activate(view);
  if (!facts || block === undefined || nudges.length > 0) {
    throw new Error(`Cannot describe ${extension.namespace}: it is not static`);
  }
  const names = [
    extension.alias.alias,
    ...Object.keys(extension.modules ?? {}),
    ...functions,
    ...Object.keys(constants),
  ];
  const docs = Object.fromEntries(names.map((name) => [name, doc(name) ?? ""]));
  const requires = extension.requires?.length ? { requires: extension.requires } : {};
  const told = Object.keys(actions).length > 0 ? { actions } : {};
  const own = {
    ...(untimed.length > 0 ? { untimed } : {}),
    ...(reads.length > 0 ? { reads } : {}),
  };
  const rest = {
    ...(extension.onByDefault === undefined ? {} : { onByDefault: extension.onByDefault }),
    ...(extension.howToEnable ? { howToEnable: extension.howToEnable } : {}),
    ...(extension.readOnly ? { readOnly: true } : {}),
    ...(example ? { example } : {}),
  };
  return { ...facts, functions, ...told, ...own, constants, grants, globals, ...requires, ...rest, block, docs };
}

/** Like `describe`, for an extension with live parts: the prompt has a placeholder, and the extension counts as
 * active. */
export async function describeLive(extension: Extension): Promise<ExtensionDescription> {
  const described = await describe({ ...extension, activate: () => true, prompt: PROMPT_PLACE });
  const { alias: { alias }, doc, shown } = extension;
  const about = [doc, PROMPT_PLACE, unshownLines(validate(extension))].filter((text) => text !== "");
  const docs = { ...described.docs, [alias]: about.join("\n") };
  return { ...described, docs, ...(shown === 0 ? { quiet: true } : {}) };
}

/** What is known about an extension's settings before it is loaded; empty if it has none. */
function describeSettings(
  { config, onByDefault }: Extension,
  section: string | null,
): Pick<ExtensionDescription, "settings"> {
  if (!config) return {};
  const marks = settingMarks(config).flatMap(({ name, value, path: [key = ""] }) => ({ name, value, key }));
  const byValue = (mark: string): Record<string, string> =>
    Object.fromEntries(marks.filter(({ name }) => name === mark).map(({ value, key }) => [String(value), key]));
  const programs: DescribedSettings["programs"] = byValue("programs");
  const others: readonly string[] = [...onByDefault === undefined ? [] : ["enabled"], ...Object.values(programs)];
  const defaults = Object.fromEntries(
    Object.entries(Object(config.parse({}))).filter(([key]) => !others.includes(key)),
  );
  const project = marks.filter(({ name }) => name === "project").map(({ key }) => key);
  const settings: DescribedSettings = {
    ...(section === null ? {} : { section }),
    defaults,
    project,
    programs,
    offered: byValue("offered"),
  };
  return { settings };
}

interface ShippedName {
  readonly name: string;
  /** Module of the extension's settings. */
  readonly settings: string | null;
  /** Top-level name of its settings in the configuration. */
  readonly section: string | null;
  readonly isStatic: boolean;
  /** Module of the extension's live parts. */
  readonly live: string | null;
}

/** Names of the shipped extensions, with data from their manifests. */
export async function shippedNames(): Promise<readonly ShippedName[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return await Promise.all(
    names.sort().map(async (name) => {
      const manifest: unknown = JSON.parse(await readFile(new URL(`${name}/vis.json`, FOLDER), "utf8"));
      const text = JSON.stringify(manifest);
      const said = (key: string): string | null => new RegExp(`"${key}":"([\\w./]+)"`).exec(text)?.[1] ?? null;
      const isStatic = text.includes('"static":true');
      return { name, isStatic, live: said("live"), settings: said("settings"), section: said("section") };
    }),
  );
}

/** A shipped extension with the scripts of its modules. */
export function withModules(extension: Extension, folder: URL): ReturnType<typeof withScripts> {
  const textOf = (path: string): string => readFileSync(new URL(path, folder), "utf8");
  return withScripts(validate(extension), { textOf, read: realmModuleReader() });
}

/** In the order in which the registry shows them, since descriptions contain no groups. */
async function grouped(names: readonly ShippedName[]) {
  const all = await Promise.all(names.map(async (one) => {
    const module: { readonly default: Extension } = await import(new URL(`${one.name}/mod.ts`, FOLDER).href);
    return { ...one, extension: withModules(module.default, new URL(`${one.name}/`, FOLDER)) };
  }));
  all.sort((a, b) => Number(a.live !== null) - Number(b.live !== null)); // what is the same everywhere comes first
  const groups = Map.groupBy(all, ({ extension }) => extension.group);
  return [...groups.values()].flatMap((group) =>
    [...Map.groupBy(group, ({ extension }) => extension.subgroup).values()].flat()
  );
}

/** One line for each key. */
function written(description: ExtensionDescription | null): string {
  if (description === null) return "null";
  const keys = Object.entries(description).map(([key, value]) =>
    `    ${JSON.stringify(key)}: ${JSON.stringify(value)},`
  );
  return ["{", ...keys, "  }"].join("\n");
}

/** The text that extensions/index.ts must have. */
export async function extensionsModule(): Promise<string> {
  const names = await grouped(await shippedNames());
  const described: Record<string, ExtensionDescription | null> = {};
  const realm: Record<string, Readonly<Record<string, string>>> = {};
  for (const { name, isStatic, live, section, extension } of names) {
    const facts = live ? await describeLive(extension) : isStatic ? await describe(extension) : null;
    described[name] = facts && { ...facts, ...describeSettings(extension, section) };
    const scripts = extension[REALM_SCRIPTS] ?? {};
    if (Object.keys(scripts).length > 0) realm[name] = scripts;
  }
  return [
    "// Generated by scripts/generate/extensions.ts. Do not edit.",
    "// deno-fmt-ignore-file",
    "",
    "/** Shipped extensions: name to literal `import()`, so that they are compiled in and loaded only when wanted. */",
    "export const shipped = {",
    ...names.map(({ name }) => `  ${name}: () => import("./${name}/mod.ts"),`),
    "};",
    "",
    "/** What of a described one depends on the conversation. */",
    "export const live = {",
    ...names.filter(({ live }) => live).map(({ name, live }) => `  ${name}: () => import("./${name}/${live}"),`),
    "};",
    "",
    "/** What they can be set to. */",
    "export const settings = {",
    ...names.filter(({ settings }) => settings).map(({ name, settings }) =>
      `  ${name}: () => import("./${name}/${settings}"),`
    ),
    "};",
    "",
    "/** Scripts of their modules, made of the files that they name. */",
    `export const realm = ${JSON.stringify(realm, null, 2)};`,
    "",
    "/** What the static ones give a query, so that it can begin before they are loaded. */",
    "export const described = {",
    ...Object.entries(described).map(([name, one]) => `  ${JSON.stringify(name)}: ${written(one)},`),
    "};",
    "",
  ].join("\n");
}

if (import.meta.main) await writeFile(new URL("index.ts", FOLDER), await extensionsModule());
