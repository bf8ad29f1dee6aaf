import { shellText } from "../../domain/kit/text.ts";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import testingTypes from "../../../docs/extend/vis-extension-testing.d.ts" with { type: "text" };
import extensionTypes from "../../../docs/generated/vis-extension.d.ts" with { type: "text" };
import { COMMANDS } from "../../channels/cli/cli.ts";
import { fileFault, messageOf, UsageError } from "../../domain/errors.ts";
import { inputFault } from "../../domain/input_fault.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { smallTextFile } from "../../domain/kit/files.ts";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import type { ExtensionCheck } from "../../domain/admin_reports.ts";
import { type ActiveExtensions, messageWithLine } from "../../extension/active_extensions.ts";
import { discoverFolders, type FoundFolder } from "../../extension/discover.ts";
import { type ExtensionFolder, readExtensionFolder } from "../../extension/folder.ts";
import { importTest, reachedModules, testFiles } from "../../extension/loader.ts";
import { signatureOf } from "../../extension/signatures.ts";
import type { EnvironmentView, Extension } from "../../extension/spec.ts";
import { collectTests } from "../../extension/testing.ts";
import { undefinedNames } from "../../sandbox/modules/modules.ts";
import type { Settings, ShippedParts } from "../settings/settings.ts";
import { buildRegistry, folderOptionsOf } from "./extension_source.ts";

const MAX_MS = 10_000, TEST_MS = 60_000;
const Checks = z.array(z.strictObject({
  call: z.string(),
  args: z.array(z.unknown()).default([]),
  result: z.unknown().optional(),
  error: z.string().optional(),
}));

interface Parts {
  readonly settings: Settings;
  readonly parts: ShippedParts;
}

export async function checkExtensions(
  folder: FoundFolder,
  { settings, parts }: Parts,
): Promise<readonly ExtensionCheck[]> {
  const { registry, loaded, skipped, unwanted, folders } = await buildRegistry(settings, parts, {
    folders: [
      ...(await discoverFolders(settings)).filter(({ place, path }) => place === "home" && path !== folder.path),
      folder,
    ],
    off: true,
  });
  const own = loaded.filter(({ namespace }) => folders.get(namespace) === folder);
  const failed = [...skipped, ...unwanted].filter((one) =>
    one.folder === folder || own.some(({ namespace }) => namespace === one.name)
  );
  const view = { envId: "check", conversationId: "check", branchId: "check", depth: 0, workspace: settings.workspace };
  const active = await registry.activate(view);
  const [first] = failed;
  return [
    ...failed.map(({ name, reason }) => ({ what: name, ok: false, found: reason })),
    ...own.filter(lacksEnabled).map(({ namespace }) => ({ what: `${namespace} config`, ok: false, found: NO_ENABLED })),
    ...own.map(({ namespace, version }) => {
      const there = active.list.some((one) => one.namespace === namespace);
      return { what: namespace, ok: true, found: `${version}${there ? "" : ", not active in this check"}` };
    }),
    ...checkCommands(own),
    ...await run(own, { active, view }),
    ...first && own.length === 0 ? [] : await sources(folder.path, { own, active, settings }),
    ...own.length > 0 ? await calls(folder.path, { active, view }) : [],
  ];
}

const NO_ENABLED = "it declares no enabled, although the extension has onByDefault; add enabled: z.boolean()";

/** Without a config of its own, an extension with `onByDefault` has the setting `enabled`. */
export function lacksEnabled({ onByDefault, config }: Extension): boolean {
  return onByDefault !== undefined && config instanceof z.ZodObject && !Object.hasOwn(config.shape, "enabled");
}

export function checkCommands(of: readonly Extension[]): readonly ExtensionCheck[] {
  const shadowed = "a command of Vis has this name, so the command of the extension never runs; choose another name";
  return of.flatMap(({ cli = [] }) => cli).flatMap(({ name, args }): readonly ExtensionCheck[] => {
    const what = `vis ${name}`;
    if (COMMANDS.includes(name)) return [{ what, ok: true, skipped: true, found: shadowed }];
    const kinds = Object.entries(args?.shape ?? {}).map(([key, type]) => [key, UNTYPABLE[schemaKind(type)]] as const);
    return kinds.filter(([, kind]) => kind !== undefined).map(([key, kind]) => {
      const found = `the command line cannot give ${key} ${kind}; take a text, a number or a boolean`;
      return { what, ok: false, found };
    });
  });
}

const UNTYPABLE: Readonly<Record<string, string>> = {
  ...{ array: "a list", tuple: "a list", set: "a list" },
  ...{ object: "an object", record: "an object", map: "an object" },
};

export function schemaKind(type: unknown): string {
  let inner = type;
  for (let depth = 0; depth < 10; depth++) {
    const def: unknown = Reflect.get(Object(inner), "def");
    const next: unknown = Reflect.get(Object(def), "innerType");
    if (next === undefined) return String(Reflect.get(Object(def), "type"));
    inner = next;
  }
  return "";
}

async function run(
  own: readonly Extension[],
  { active, view }: { readonly active: ActiveExtensions; readonly view: EnvironmentView },
): Promise<readonly ExtensionCheck[]> {
  const iteration = {
    iteration: 0,
    currentMaxIterations: 4,
    prevIteration: -1,
    prevExpressions: null,
    userVarCount: 0,
  };
  const isOwn = (one: { readonly namespace: string }) => own.some(({ namespace }) => namespace === one.namespace);
  for (const one of active.nudges.filter(isOwn)) await one.nudge({ ...iteration, environment: view });
  return (active.faults?.() ?? []).filter(isOwn).map(({ namespace, phase, error }) => (
    { what: `${namespace} ${phase}`, ok: false, found: messageWithLine(error) }
  ));
}

async function sources(
  path: string,
  { own, active, settings }: {
    readonly own: readonly Extension[];
    readonly active: ActiveExtensions;
    readonly settings: Settings;
  },
): Promise<readonly ExtensionCheck[]> {
  const { readModule } = await folderOptionsOf(settings);
  const folder = await readExtensionFolder(path);
  const modules = reachedModules(folder, { roots: folder.entries.map(({ entry }) => entry), readModule });
  const names = [...modules].flatMap(([file, { code }]) =>
    undefinedNames(code).map(({ name, line }) => ({
      what: `${file}:${line}`,
      ok: false,
      found: `${name} is not defined`,
    }))
  );
  const returns = own.flatMap((extension) => {
    const { alias: { alias }, symbols = [] } = extension;
    const told = active.doc(alias) ?? "";
    return symbols.flatMap((symbol): readonly ExtensionCheck[] => {
      if (symbol.kind !== "function") return [];
      const fault = (found: string) => ({ what: `${alias}.${symbol.name}`, ok: false, found });
      if (!isType(symbol.returns, readModule)) return [fault(`returns is not a TypeScript type: ${symbol.returns}`)];
      const signature = `{${signatureOf(alias, symbol).slice(alias.length + 1)}}`;
      // A signature is not valid TypeScript if a parameter describes its type in words.
      const text = isType(signature, readModule) ? signature : symbol.returns;
      return undefinedTypes(text).filter((name) =>
        !new RegExp(`\\b(?:type|interface|class|enum) ${name}\\b`).test(told)
      )
        .map((name) =>
          fault(`${name} is not a type of TypeScript, and the extension's documentation does not declare it`)
        );
    });
  });
  return [...names, ...returns, await types(folder)];
}

type ReadModule = Awaited<ReturnType<typeof folderOptionsOf>>["readModule"];

function isType(text: string, readModule: ReadModule): boolean {
  try {
    return readModule(`type Returned = ${text};\nexport {};`, "returns.ts").code.trim() === "export {};";
  } catch {
    return false;
  }
}

const TOKEN =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[\p{ID_Start}$_][\p{ID_Continue}$]*|=>|\.\.\.|\S/gu;
const OPENS: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]", "<": ">" };
const KNOWN_TYPES = new Set([
  ..."any unknown never void null undefined string number boolean bigint symbol object true false this".split(" "),
  ..."keyof typeof infer extends is in as readonly unique asserts new get set import abstract".split(" "),
  ..."Partial Required Readonly Record Pick Omit Exclude Extract NonNullable Parameters ReturnType".split(" "),
  ..."ConstructorParameters InstanceType Awaited NoInfer Uppercase Lowercase Capitalize Uncapitalize".split(" "),
  ..."ReadonlyArray ReadonlyMap ReadonlySet ArrayLike PromiseLike Iterable Iterator IterableIterator".split(" "),
  ..."AsyncIterable AsyncIterator AsyncIterableIterator Generator AsyncGenerator PropertyKey TemplateStringsArray"
    .split(" "),
  ..."ArrayBufferLike ArrayBufferView BufferSource RequestInit ResponseInit HeadersInit BodyInit".split(" "),
]);

function undefinedTypes(text: string): readonly string[] {
  const tokens = text.match(TOKEN) ?? [];
  const found = new Set<string>();
  const declared = new Set<string>();
  const open: string[] = [];
  for (const [at, token] of tokens.entries()) {
    const [before = "", next = ""] = [tokens[at - 1], tokens[at + 1]];
    if (Object.hasOwn(OPENS, token)) open.push(token);
    else if (OPENS[open.at(-1) ?? ""] === token) open.pop();
    if (!/^[\p{ID_Start}$_]/u.test(token) || before === ".") continue;
    const isKey = open.at(-1) === "{" && ["{", ",", ";", "readonly", "get", "set"].includes(before);
    const isLabel = next === ":" || (next === "?" && [":", ",", ")", "]"].includes(tokens[at + 2] ?? ""));
    const isParameter = open.at(-1) === "<" && ["<", ","].includes(before) && declaresTypes(tokens, at);
    if (isParameter || next === "in" || before === "infer") declared.add(token);
    else if (!isKey && !isLabel && next !== "is" && !KNOWN_TYPES.has(token) && !(token in globalThis)) found.add(token);
  }
  return [...found].filter((name) => !declared.has(name));
}

function declaresTypes(tokens: readonly string[], at: number): boolean {
  let depth = 1;
  while (depth > 0 && at < tokens.length) depth += { "<": 1, ">": -1 }[tokens[++at] ?? ""] ?? 0;
  return tokens[at + 1] === "(";
}

async function types({ path, entries }: ExtensionFolder): Promise<ExtensionCheck> {
  if (Deno.build.standalone) {
    const found = "not checked: this program has no TypeScript compiler; deno check mod.ts in the folder checks them";
    return { what: "types", ok: true, skipped: true, found };
  }
  const config = await Deno.makeTempFile({ prefix: "vis-types-", suffix: ".json" });
  try {
    const imports = Object.fromEntries(
      Object.entries(TYPE_FILES).map(([name, { source }]) => [name, source.startsWith("npm:") ? source : here(source)]),
    );
    await Deno.writeTextFile(config, JSON.stringify({ imports, compilerOptions: { strict: true } }));
    const files = entries.map(({ entry }) => join(path, entry)).filter((file) => /\.m?ts$/.test(file));
    if (files.length === 0) return { what: "types", ok: true, found: "no TypeScript" };
    const command = new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--no-lock", "--config", config, ...files],
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    });
    const { success, stderr } = await command.output();
    return { what: "types", ok: success, found: success ? "" : new TextDecoder().decode(stderr).trim() };
  } finally {
    await Deno.remove(config);
  }
}

function here(source: string): string {
  return new URL(source, import.meta.url).href;
}

async function calls(
  path: string,
  { active, view }: { readonly active: ActiveExtensions; readonly view: EnvironmentView },
): Promise<readonly ExtensionCheck[]> {
  const text = await smallTextFile(join(path, "checks.json"));
  if (text === null) return [];
  const value = jsonOrUndefined(text);
  if (value === undefined) return [{ what: "checks.json", ok: false, found: "the file is not valid JSON" }];
  const checks = Checks.safeParse(value, { error: inputFault });
  if (!checks.success) {
    const [issue] = checks.error.issues;
    return [{ what: "checks.json", ok: false, found: `${issue?.path.join(".") || "the file"} ${issue?.message}` }];
  }
  const done: ExtensionCheck[] = [];
  for (const { call, args, result, error } of checks.data) {
    const what = `${call}(${args.map((one) => JSON.stringify(one)).join(", ")})`;
    try {
      const got = await active.call(call, args, { env: view, signal: AbortSignal.timeout(MAX_MS) });
      const ok = error === undefined && (result === undefined || isDeepStrictEqual(got, result));
      done.push({ what, ok, found: ok ? "" : `it returned ${JSON.stringify(got)}` });
    } catch (thrown) {
      const message = messageOf(thrown);
      const found = messageWithLine(thrown);
      // deno-lint-ignore vis/no-message-parsing -- checks.json names a part of the message
      done.push({ what, ok: error !== undefined && message.includes(error), found });
    }
  }
  return done;
}

export async function testExtensions(
  { path, place }: FoundFolder,
  settings: Settings,
): Promise<readonly ExtensionCheck[]> {
  const folder = await readExtensionFolder(path).catch((error: unknown) => {
    throw new UsageError(messageOf(error));
  });
  const files = testFiles(folder);
  if (files.length === 0) {
    throw new UsageError(`Cannot test ${path}: it has no test file; create one such as mod_test.ts`);
  }
  const options = await folderOptionsOf(settings);
  if (place === "project" && !await options.trust.has(path, folder.hash)) {
    throw new UsageError(
      `Cannot test ${path}: it is not trusted; review it with vis extensions trust ${shellText([path])}`,
    );
  }
  const done: ExtensionCheck[] = [];
  for (const file of files) {
    try {
      const tests = await collectTests(() => importTest(folder, file, options));
      if (tests.length === 0) {
        done.push({ what: file, ok: false, found: "it calls no test() of @vis/extension/testing" });
      }
      for (const { name, run } of tests) done.push(await outcome(name, run));
    } catch (error) {
      done.push({ what: file, ok: false, found: messageWithLine(error) });
    }
  }
  return done;
}

async function outcome(what: string, run: () => unknown): Promise<ExtensionCheck> {
  const signal = AbortSignal.timeout(TEST_MS);
  try {
    await abortable(Promise.resolve().then(run), signal);
    return { what, ok: true, found: "" };
  } catch (error) {
    return {
      what,
      ok: false,
      found: signal.aborted ? `it took longer than ${TEST_MS / 1000} s, the limit` : messageWithLine(error),
    };
  }
}

/** Editors load the types of this version of zod. At run time, `z` comes from the program. */
const ZOD = "npm:zod@4.6.7";

const TYPE_FILES = {
  "@vis/extension": {
    file: "vis-extension.d.ts",
    text: extensionTypes,
    source: "../../../docs/generated/vis-extension.d.ts",
  },
  "@vis/extension/testing": {
    file: "vis-extension-testing.d.ts",
    text: testingTypes,
    source: "../../../docs/extend/vis-extension-testing.d.ts",
  },
  "zod": { file: ZOD, text: null, source: ZOD },
} as const;

export async function newExtension(folder: string): Promise<string> {
  const name = basename(folder);
  if (!/^[a-z][a-z0-9]{0,40}$/.test(name)) {
    throw new UsageError(
      `Cannot create extension ${name}: its name must be a lower-case letter, then at most 40 lower-case letters ` +
        "and digits",
    );
  }
  try {
    await Deno.mkdir(folder);
    for (const [file, text] of Object.entries(filesOf(name))) await Deno.writeTextFile(join(folder, file), text);
  } catch (error) {
    throw new UsageError(
      `Cannot create extension ${folder}: ${fileFault(error)}; name a new folder in a writable folder`,
    );
  }
  return folder;
}

function filesOf(name: string): Readonly<Record<string, string>> {
  const namespace = `my.${name}`;
  const manifest = { extensions: [{ namespace, version: "0.1.0", entry: "mod.ts", requires: [], allow: {} }] };
  const checks = [{ call: `${name}.hello`, args: ["Ada"], result: "Hello, Ada" }, {
    call: `${name}.hello`,
    args: [""],
    error: "Cannot call",
  }];
  const imports = Object.entries(TYPE_FILES).map(([one, { file, text }]) => [one, text === null ? file : `./${file}`]);
  const editor = { imports: Object.fromEntries(imports) };
  return {
    ...Object.fromEntries(Object.values(TYPE_FILES).flatMap(({ file, text }) => text === null ? [] : [[file, text]])),
    "deno.json": `${JSON.stringify(editor, null, 2)}\n`,
    "vis.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "checks.json": `${JSON.stringify(checks, null, 2)}\n`,
    "mod.ts": `import { defineExtension, fn, z } from "@vis/extension";

export default defineExtension({
  namespace: "${namespace}",
  alias: { ns: "vis.ext.${name}", alias: "${name}" },
  doc: "Greets people.",
  version: "0.1.0",
  prompt: "Greetings.",
  symbols: [
    fn("hello", (_env, who: string) => \`Hello, \${who}\`, {
      doc: "A greeting.",
      args: z.tuple([z.string().min(1).describe("who")]),
      returns: "string",
      examples: ['await ${name}.hello("Ada")'],
    }),
  ],
});
`,
    "mod_test.ts": `import assert from "node:assert/strict";
import { test, testExtension } from "@vis/extension/testing";
import ${name} from "./mod.ts";

test("${name}.hello() greets by name", async () => {
  const tested = await testExtension(${name});
  assert.equal(await tested.call("${name}.hello", "Ada"), "Hello, Ada");
  await assert.rejects(tested.call("${name}.hello", ""), /Cannot call ${name}.hello/);
});
`,
  };
}
