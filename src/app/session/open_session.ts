import type { Config } from "../../config/schema.ts";
import { resolve } from "node:path";
import type { OpenRequest, Session } from "../../channels/channel.ts";
import { valueAt } from "../../config/layers.ts";
import { type ConversationParts, Conversations } from "../../conversation/conversations.ts";
import { ConfigError, SandboxEnded } from "../../domain/errors.ts";
import { runUndo } from "../../domain/undo.ts";
import type { ApprovalRules } from "../../domain/query/approval.ts";
import { Playback } from "../../domain/records/recording.ts";
import type { EnvironmentParts } from "../../environment/environment_parts.ts";
import type { ExtensionSource } from "../../extension/active_extensions.ts";
import { createLog, startLogTable } from "../../logging/log.ts";
import { openStore, type OpenStoreOptions } from "../../persistence/open_store.ts";
import type { Store } from "../../persistence/store.ts";
import { Router } from "../../providers/router/router.ts";
import type { QuerySettings } from "../../query/query_settings.ts";
import { checkStart, openSandbox } from "../../sandbox/host/open_sandbox.ts";
import { WorkFolder } from "../../sandbox/launch.ts";
import {
  missingWalls,
  NO_GRANTS,
  type Sandbox,
  type SandboxLimits,
  type SandboxOptions,
} from "../../sandbox/sandbox.ts";
import { checkLeftOut, extensionSource } from "../extensions/extension_source.ts";
import type { Telemetry } from "../otel/telemetry.ts";
import { buildRouter } from "../providers/build_router.ts";
import {
  databaseFile,
  type EnvironmentVariables,
  programSettings,
  programsOf,
  readSettings,
  rootOf,
  secretsIn,
  type Settings,
  type ShippedParts,
} from "../settings/settings.ts";
import { PROCESS_LIMITS } from "./process_limits.ts";
import { isAlive, ownSession } from "./process_owner.ts";

export interface SessionParts extends ShippedParts {
  readonly env: EnvironmentVariables;
  readonly telemetry?: Telemetry | null;
}

export async function openSession(request: OpenRequest, { env, telemetry, ...parts }: SessionParts): Promise<Session> {
  PROCESS_LIMITS.hold();
  const { locked } = request;
  const settings = await readSettings(request, env, parts);
  await checkLeftOut(request.noExtension ?? [], { settings, parts, paths: namedFolders(request) });
  const { live, idleMs } = settings.config.sandbox;
  let store: Store | null = null;
  try {
    const router = await routerFor(request, { settings, telemetry });
    store = await openLoggedStore({
      ...{ path: settings.database, password: settings.databasePassword, isAlive },
      // The records of a replay do not belong in the database of the recording, which is also open.
      alone: request.playback !== undefined,
    });
    await store.sweepLost(isAlive);
    const extensions = await extensionsOf(request, { settings, parts });
    const own = ownSession();
    const where = { ...settings, readOnly: locked?.writable === false };
    const commands = locked ? {} : programsOf(settings, { env, shipped: parts.shipped, mode: request.shell });
    const node = await nodeOf(request, { store, router, owner: own.owner });
    const conversations = await conversationsOf(telemetry, {
      store,
      ...node.parts,
      registry: extensions.source,
      router,
      log: createLog("conversation"),
      openSandbox: (options) => startSandbox({ ...options, environment: env }, where),
      trySandbox: (of) => {
        checkRealm(of, where);
        new WorkFolder().remove();
      },
      ...(locked ? {} : { ...commands, ...approvalRules(settings) }),
      ...request.playback ? {} : await hooksOf(settings, commands),
      ...request.playback ? {} : changesReader(settings, { ...commands, env }),
      secrets: (workspace) => secretsIn(settings, workspace),
      repositoryRoot: (workspace) => {
        const path = locked || workspace !== settings.workspace ? null : rootOf(settings, env);
        return path === null ? null : { path, isOpen: request.root ?? false };
      },
      ...locked ? {} : { readFolders: settings.readFolders },
      obeyedPaths: obeyedPaths(env, settings),
      ...locked?.writable === false ? {} : { fileChanges: fileChanges(settings, { ...parts, env }) },
      ...request.serves ? { served: [settings.workspace, ...request.serves] } : {},
      ...{ oneRequest: request.oneRequest ?? false, now: Date.now, owner: own.owner, children: { live, idleMs } },
      settings: { ...querySettings(settings, env), reasoning: request.reasoning ?? null },
    });
    await node.start();
    const problems = [
      ...settings.layers.flatMap(({ ignored = [] }) => ignored),
      ...settings.folderNotes,
      ...extensions.notes,
      ...await unwalledNotes(settings, { ...commands, request }),
    ];
    return {
      conversations,
      workspace: settings.workspace,
      readFolders: settings.readFolders,
      ...rootOfRouter(router),
      database: settings.database,
      notes: [...router.notes, ...problems],
      problems,
      useModel: async (named) => {
        const asked = { ...request, ...named, browse: false };
        router.become(await routerFor(asked, { settings: await readSettings(asked, env, parts), telemetry }));
        return rootOfRouter(router);
      },
      close: async () => {
        await conversations.closeAll();
        await node.close();
        await store?.close();
        own.close();
      },
    };
  } catch (error) {
    await store?.close();
    throw error;
  }
}

export async function openTraced(
  request: OpenRequest,
  { version, ...parts }: SessionParts & { readonly version: string },
): Promise<Session> {
  const telemetry = parts.telemetry ?? (request.browse ? null : await wantedTelemetry(parts.env, version));
  if (telemetry === null) return await openSession(request, parts);
  try {
    const session = await openSession(request, { ...parts, telemetry });
    return {
      ...session,
      close: async () => {
        try {
          await session.close();
        } finally {
          await telemetry.close();
        }
      },
    };
  } catch (error) {
    await telemetry.close();
    throw error;
  }
}

export async function wantedTelemetry(env: EnvironmentVariables, version: string): Promise<Telemetry | null> {
  if (!Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(TRACES_)?ENDPOINT$/.test(name))) return null;
  const { openTelemetry } = await import("../otel/telemetry.ts");
  return openTelemetry(env, { version });
}

export async function openLoggedStore(
  { alone = false, ...options }: OpenStoreOptions & { readonly alone?: boolean },
): Promise<Store> {
  const store = await openStore(options);
  const table = startLogTable({ alone, write: (entries) => store.log(...entries) });
  const close = store.close.bind(store);
  return Object.assign(store, {
    close: async (): Promise<void> => {
      await table.close();
      await close();
    },
  });
}

function rootOfRouter(router: Router): Pick<Session, "provider" | "model"> {
  const { provider, model } = router.current();
  return { provider: provider.name, model };
}

async function routerFor(
  { browse = false, playback }: OpenRequest,
  { settings, telemetry }: { readonly settings: Settings; readonly telemetry: Telemetry | null | undefined },
): Promise<Router> {
  if (!browse && !playback) {
    if (!telemetry) return await buildRouter(settings);
    const { tracedProvider } = await import("../otel/traced.ts");
    return await buildRouter(settings, { wrap: (provider) => tracedProvider(provider, telemetry.tracer) });
  }
  const { replayProvider } = await import("../../providers/replay.ts");
  const provider = replayProvider(playback ?? new Playback(NOTHING_RECORDED), { search: playback !== undefined });
  return new Router({ routes: [{ provider, model: provider.defaultModel }] });
}

async function conversationsOf(telemetry: Telemetry | null = null, parts: ConversationParts): Promise<Conversations> {
  if (!telemetry) return new Conversations(parts);
  const { tracedConversations } = await import("../otel/traced.ts");
  return tracedConversations(parts, telemetry.tracer);
}

async function extensionsOf(
  { lazyExtensions = false, ...request }: OpenRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: ShippedParts },
): ReturnType<typeof extensionSource> {
  const load = () => loadExtensions(request, { settings, parts });
  return lazyExtensions ? { source: lazySource(async () => (await load()).source), notes: [] } : await load();
}

function lazySource(load: () => Promise<ExtensionSource>): ExtensionSource {
  let loading: Promise<ExtensionSource> | null = null, loaded: ExtensionSource | null = null;
  const source = async (): Promise<ExtensionSource> => loaded = await (loading ??= load());
  return {
    activate: async (...of) => await (await source()).activate(...of),
    known: (envId) => loaded?.known?.(envId) ?? [],
    release: (envId) => loaded?.release?.(envId),
    namedFile: async (...of) => await (await source()).namedFile(...of),
    watchFiles: (...of) => loaded?.watchFiles?.(...of) ?? null,
  };
}

async function loadExtensions(
  request: OpenRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: ShippedParts },
): ReturnType<typeof extensionSource> {
  const { extensionHome, mcpServers } = request;
  const offered = mcpServers && Object.keys(mcpServers).length > 0 ? { mcpServers } : {};
  return await extensionSource({ ...settings, extensionHome, offered }, parts, { paths: namedFolders(request) });
}

function namedFolders({ extension = [] }: OpenRequest): readonly string[] {
  return extension.map((path) => resolve(path));
}

async function nodeOf(
  { node = false }: OpenRequest,
  { store, ...parts }: Pick<ConversationParts, "owner" | "store"> & { readonly router: Router },
) {
  const nothing = (): Promise<void> => Promise.resolve();
  if (!node || !store.asNode) return { parts: {}, start: nothing, close: nothing };
  const { openNode } = await import("../../conversation/nodes/node.ts");
  return await openNode(store, { ...parts, log: createLog("node") });
}

/** A settings file of a workspace sets the hooks of this workspace only, because the user trusts it for no other. */
async function hooksOf(
  { workspace, config, layers, sections }: Settings,
  { spawn }: Pick<ConversationParts, "spawn">,
): Promise<Pick<ConversationParts, "around">> {
  const others = layers.filter(({ layer }) => layer !== "project");
  const { hooks: elsewhere } = others.length === layers.length ? config : sections.merged(others) as Config;
  const isNone = ({ request, edit, end }: Config["hooks"]): boolean =>
    [request, edit, end].every((all) => all.length === 0);
  if (!spawn || isNone(config.hooks) && isNone(elsewhere)) return {};
  const { userHooks } = await import("./user_hooks.ts");
  return { around: userHooks({ hooksIn: (path) => path === workspace ? config.hooks : elsewhere, spawn }) };
}

function approvalRules({ home }: Pick<Settings, "home">): { readonly approvalRules?: ApprovalRules } {
  if (home === null) return {};
  const load = async () => new (await import("./approval_folder.ts")).ApprovalFolder(home);
  let rules: ReturnType<typeof load> | null = null;
  const ready = () => rules ??= load();
  return {
    approvalRules: {
      has: async (rule) => (await ready()).has(rule),
      add: async (rule) => (await ready()).add(rule),
      forget: async (conversationId) => (await ready()).forget(conversationId),
    },
  };
}

function changesReader(
  { home }: Pick<Settings, "home">,
  { env, spawn, programWalls }: Pick<ConversationParts, "spawn" | "programWalls"> & {
    readonly env: EnvironmentVariables;
  },
): Pick<ConversationParts, "readChanges" | "targetOf"> {
  if (!spawn || !programWalls) return {};
  return {
    targetOf: async (workspace, name) => {
      const { targetOf } = await import("../terminal/git_state.ts");
      return await targetOf(name, { root: rootOf({ workspace, home }, env), workspace, spawn, programWalls });
    },
    readChanges: async (workspace, target, signal) => {
      const { readChanges } = await import("../terminal/git_state.ts");
      return await readChanges(target, { root: rootOf({ workspace, home }, env), workspace, spawn, signal });
    },
  };
}

function obeyedPaths(
  env: EnvironmentVariables,
  settings: Pick<Settings, "home" | "database">,
): NonNullable<EnvironmentParts["obeyedPaths"]> {
  const user = { home: env["HOME"] || "/", visHome: settings.home, database: databaseFile(settings), env };
  const load = async () => new (await import("../../processes/protected/obeyed_paths.ts")).ObeyedPaths(user);
  let obeyed: ReturnType<typeof load> | null = null;
  return async (...of) => await (await (obeyed ??= load())).of(...of);
}

function fileChanges(
  settings: Settings,
  parts: ShippedParts & { readonly env: EnvironmentVariables },
): NonNullable<ConversationParts["fileChanges"]> {
  return async ({ conversationId: conversation, workspace, tenant }) => {
    const { AppExtensionAdmin } = await import("../extensions/extension_admin.ts");
    const admin = new AppExtensionAdmin({ ...settings, workspace, tenant }, parts);
    return (await runUndo(admin, { list: true, conversation }))?.changes ?? null;
  };
}

async function unwalledNotes(
  settings: Settings,
  { programWalls, request }: Partial<Pick<EnvironmentParts, "programWalls">> & {
    readonly request: OpenRequest;
  },
): Promise<readonly string[]> {
  if (!programWalls || programSettings(settings, { mode: request.shell }).unwalled !== "run") return [];
  const { unwalled } = await programWalls().catch(() => ({ unwalled: undefined }));
  if (unwalled?.mode !== "run") return [];
  const setting = request.shell === undefined ? "shell.unwalled" : "--shell";
  return [`Commands run without a question behind an incomplete wall: ${unwalled.reason} (${setting} is run)`];
}

function querySettings({ config, layers, workspace, locked }: Settings, env: EnvironmentVariables) {
  const { iterations, ceiling, costUsd, tokens, wallMs, subcalls, depth } = config.budget;
  const { timeoutMs, timeoutMinMs, timeoutMaxMs } = config.sandbox;
  return {
    ...budgetOf({ iterations, ceiling, layers }),
    limits: { costUsd, tokens, wallMs, subcalls },
    depth,
    approvals: locked ? "locked" as const : config.approvals,
    deadlines: { defaultMs: timeoutMs, minMs: timeoutMinMs, maxMs: timeoutMaxMs },
    caps: config.context,
    instructions: "",
    machine: {
      cwd: workspace,
      home: env["HOME"] ?? env["USERPROFILE"] ?? "",
      user: env["USER"] ?? env["USERNAME"] ?? "",
      platform: `${Deno.build.os} ${Deno.build.arch}`,
      shell: env["SHELL"] ?? "",
    },
  };
}

/** A user who names a budget with a flag wants exactly this budget, so Vis does not extend the budget. The file of a
 * workspace does not raise the ceiling, because a repository can bring this file. */
function budgetOf(
  { iterations, ceiling, layers }: Pick<Settings, "layers"> & {
    readonly iterations: number;
    readonly ceiling: number | null;
  },
): Pick<QuerySettings, "budget" | "ceiling" | "extending" | "operatorCeiling"> {
  const sets = (name: string, layer: Settings["layers"][number]): boolean =>
    layer.layer !== "default" && valueAt(layer.values, ["budget", name]) !== undefined;
  const operatorCeiling = layers.some((layer) => sets("ceiling", layer)) ? ceiling : null;
  const own = layers.filter(({ layer }) => layer !== "project")
    .map(({ values }) => valueAt(values, ["budget", "iterations"]))
    .findLast((one) => typeof one === "number");
  const settings = {
    budget: iterations,
    ceiling: operatorCeiling ?? (ceiling === null ? null : Math.max(ceiling, own ?? 0)),
    extending: true,
    operatorCeiling,
  };
  const named = layers.some((layer) => layer.layer === "flags" && sets("iterations", layer));
  return named ? { ...settings, ceiling: operatorCeiling, extending: false } : settings;
}

type RealmSettings = Pick<Settings, "config"> & { readonly readOnly?: boolean };

function checkRealm(
  { granted = [], workspace }: Pick<SandboxOptions, "granted" | "workspace">,
  { config, readOnly = false }: RealmSettings,
): void {
  const writer = readOnly ? granted.find(({ grants }) => grants.write.length > 0) : undefined;
  if (writer) {
    const { namespace, grants: { write } } = writer;
    throw new ConfigError(
      `Cannot run blocks: the workspace is read-only, but ${namespace} lets blocks write ${write[0]}; ` +
        `remove ${namespace} from extensions.allow, or start Vis with --writable`,
    );
  }
  checkStart({ granted, launcher: config.sandbox.launcher, ...workspace === undefined ? {} : { workspace } });
}

export async function startSandbox(
  options: Omit<SandboxOptions, "limits">,
  settings: RealmSettings,
): Promise<Sandbox> {
  const { config } = settings, { launcher } = config.sandbox;
  checkRealm(options, settings);
  const limited: SandboxOptions = { ...options, launcher, limits: limitsOf(config) };
  const sandbox = await openSandbox(limited).catch((error: unknown) => {
    const cause = launcher.length > 0
      ? `sandbox.launcher ${launcher.join(" ")}`
      : (options.granted ?? []).map(({ namespace }) => `the grants of extension ${namespace}`).join(" and ");
    if (!(error instanceof SandboxEnded) || cause === "" || options.signal?.aborted) throw error;
    throw new ConfigError(`Cannot start the sandbox with ${cause}: ${error.why}`, {
      advice: "vis doctor tests the sandbox",
      cause: error,
    });
  });
  const missing = missingWalls(sandbox.walls, config.sandbox.require);
  if (missing.length === 0) return sandbox;
  await sandbox.close();
  const why = sandbox.walls.failed.length > 0 ? ` (${sandbox.walls.failed.join(", ")})` : "";
  throw new ConfigError(
    `Cannot run blocks: the required ${missing.length === 1 ? "wall" : "walls"} ${missing.join(" and ")} ` +
      `${missing.length === 1 ? "is" : "are"} not active${why}`,
    { advice: "vis doctor tests the walls" },
  );
}

function limitsOf({ sandbox, context }: Settings["config"]): SandboxLimits {
  return {
    memoryBytes: sandbox.memoryMiB * 1024 * 1024,
    outputBytes: 1024 * 1024,
    graceMs: 500,
    previewChars: context.previewChars,
  };
}

export async function tryWalls(
  settings: Parameters<typeof startSandbox>[1],
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const nothing = {
    functions: [],
    constants: {},
    grants: NO_GRANTS,
    onCall: () => Promise.resolve(null),
    ...(signal ? { signal } : {}),
  };
  await (await startSandbox(nothing, settings)).close();
}

const NOTHING_RECORDED = { conversationId: "", title: "", workspace: "", createdAt: 0, queries: [] };
