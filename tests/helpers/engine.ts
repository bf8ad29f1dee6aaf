import { thisProcess } from "../../src/app/session/process_owner.ts";
import { type ConversationParts, Conversations } from "../../src/conversation/conversations.ts";
import type { AskOptions } from "../../src/conversation/ask_options.ts";
import type { ApprovalRules } from "../../src/domain/query/approval.ts";
import type { QueryEvent, QueryResult } from "../../src/domain/query/query_schemas.ts";
import type { ExtensionSource } from "../../src/extension/active_extensions.ts";
import type { Extension } from "../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../src/extension/registry.ts";
import type { Log } from "../../src/logging/log.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Branch, ProcessOwner, Store } from "../../src/persistence/store.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { Router, type RouterOptions } from "../../src/providers/router/router.ts";
import type { ModelRoute } from "../../src/providers/router/routes.ts";
import type { QuerySettings } from "../../src/query/query_settings.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { SandboxLimits, SandboxOptions } from "../../src/sandbox/sandbox.ts";
import { openKept } from "./kept_sandboxes.ts";
import { runs } from "./long_part.ts";
import { DEFAULT_CAPS } from "./no_context.ts";
import {
  type ScriptedOptions,
  type ScriptedProvider,
  scriptedProvider,
  type ScriptedReply,
} from "./scripted_provider.ts";

export interface EngineOptions {
  readonly path?: string;
  readonly store?: Store;
  readonly extensions?: readonly Extension[];
  readonly source?: (registry: ExtensionRegistry) => ExtensionSource;
  readonly settings?: Partial<QuerySettings>;
  readonly provider?: Provider;
  readonly routes?: readonly ModelRoute[];
  readonly scripted?: ScriptedOptions;
  readonly router?: Partial<RouterOptions>;
  readonly now?: () => number;
  readonly workspace?: string;
  readonly served?: readonly string[];
  readonly owner?: ProcessOwner;
  readonly openSandbox?: typeof openSandbox;
  /** If true, each sandbox starts a child, as with `--all` or a given store. */
  readonly newChildren?: boolean;
  readonly trySandbox?: ConversationParts["trySandbox"];
  /** Without this function, extensions get no `spawn`. */
  readonly spawn?: NonNullable<ConversationParts["spawn"]>;
  readonly programWalls?: NonNullable<ConversationParts["programWalls"]>;
  readonly approvalRules?: ApprovalRules;
  readonly readChanges?: NonNullable<ConversationParts["readChanges"]>;
  readonly targetOf?: NonNullable<ConversationParts["targetOf"]>;
  readonly repositoryRoot?: NonNullable<ConversationParts["repositoryRoot"]>;
  readonly readFolders?: NonNullable<ConversationParts["readFolders"]>;
  readonly shared?: NonNullable<ConversationParts["shared"]>;
  readonly fileChanges?: NonNullable<ConversationParts["fileChanges"]>;
  readonly oneRequest?: boolean;
  readonly limits?: Partial<SandboxLimits>;
  readonly children?: NonNullable<ConversationParts["children"]>;
  readonly around?: NonNullable<ConversationParts["around"]>;
}

export interface Engine {
  readonly store: Store;
  readonly conversations: Conversations;
  readonly branch: Branch;
  readonly provider: ScriptedProvider;
  readonly events: QueryEvent[];
  readonly logged: { readonly level: string; readonly event: string; readonly data: unknown }[];
  ask(request: string, options?: Partial<Pick<AskOptions, "signal" | "approve">>): Promise<QueryResult>;
  context(call: number): string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const LIMITS = {
  memoryBytes: 512 << 20,
  outputBytes: 1 << 20,
  graceMs: 500,
  previewChars: DEFAULT_CAPS.previewChars,
} as const;

export async function startEngine(replies: readonly ScriptedReply[], options: EngineOptions = {}): Promise<Engine> {
  const store = options.store ?? await openStore({ path: options.path ?? ":memory:" });
  const provider = scriptedProvider(replies, options.scripted);
  const events: QueryEvent[] = [];
  const logged: { level: string; event: string; data: unknown }[] = [];
  const log = recordingLog(logged);
  const registry = new ExtensionRegistry({ log });
  for (const extension of options.extensions ?? []) registry.register(extension);
  const mayKeep = !options.newChildren && options.store === undefined && runs(1, 0) === 1;
  const open = options.openSandbox ??
    (mayKeep ? (wanted: SandboxOptions) => openKept(options.path ?? store, wanted) : openSandbox);
  const route = { provider: options.provider ?? provider, model: "script" };
  const conversations = new Conversations({
    store,
    registry: options.source?.(registry) ?? registry,
    router: new Router({ routes: [route, ...options.routes ?? []], ...options.router }),
    log,
    ...(options.openSandbox ? {} : { mayStartEarly: () => false }),
    openSandbox: (wanted) => open({ ...wanted, limits: { ...LIMITS, ...options.limits } }),
    ...(options.trySandbox ? { trySandbox: options.trySandbox } : {}),
    ...(options.served ? { served: options.served } : {}),
    ...(options.spawn ? { spawn: options.spawn } : {}),
    ...(options.programWalls ? { programWalls: options.programWalls } : {}),
    ...(options.shared ? { shared: options.shared } : {}),
    ...(options.approvalRules ? { approvalRules: options.approvalRules } : {}),
    ...(options.readFolders ? { readFolders: options.readFolders } : {}),
    ...(options.repositoryRoot ? { repositoryRoot: options.repositoryRoot } : {}),
    ...(options.readChanges ? { readChanges: options.readChanges } : {}),
    ...(options.targetOf ? { targetOf: options.targetOf } : {}),
    ...(options.fileChanges ? { fileChanges: options.fileChanges } : {}),
    oneRequest: options.oneRequest ?? false,
    now: options.now ?? Date.now,
    owner: options.owner ?? thisProcess(),
    ...(options.children ? { children: options.children } : {}),
    ...(options.around ? { around: options.around } : {}),
    settings: { ...SETTINGS, ...options.settings },
  });
  const workspace = options.workspace ?? "/nowhere";
  const branch = await store.latestConversation(workspace) ??
    await conversations.create({ title: "test", channel: "test", workspace });
  const close = async (): Promise<void> => {
    await conversations.closeAll();
    await store.close();
  };
  return {
    store,
    conversations,
    branch,
    provider,
    events,
    logged,
    ask: (request, { signal, approve } = {}) =>
      conversations.ask(branch, request, {
        signal: signal ?? new AbortController().signal,
        ...(approve ? { approve } : {}),
        emit: (event) => events.push(event),
      }),
    context: (call) => provider.requests[call]?.context ?? "",
    close,
    [Symbol.asyncDispose]: close,
  };
}

const SETTINGS: QuerySettings = {
  budget: 4,
  ceiling: null,
  limits: { costUsd: null, tokens: null, wallMs: null },
  deadlines: { defaultMs: 120_000, minMs: 100, maxMs: 1_800_000 },
  caps: DEFAULT_CAPS,
  instructions: "",
  machine: { cwd: "/nowhere", home: "/home/test", user: "test", platform: "test", shell: "/bin/sh" },
};

function recordingLog(logged: { level: string; event: string; data: unknown }[]): Log {
  const at = (level: string) => (event: string, data: Record<string, unknown> = {}): void => {
    logged.push({ level, event, data });
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
