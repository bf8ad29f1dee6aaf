import type { ConfigLayer } from "../config/layers.ts";
import type { ConfigFlags } from "../config/load.ts";
import type { Conversations } from "../conversation/conversations.ts";
import type { ApprovalAdmin } from "../domain/query/approval.ts";
import type {
  DatabaseCopyReport,
  DatabaseCopyRequest,
  DatabaseMaintenance,
} from "../domain/records/database_maintenance.ts";
import type { Playback, ReplayPlace, ReplayRequest } from "../domain/records/recording.ts";
import type {
  ConfigTrustFacts,
  ExtensionAdmin,
  InstalledRelease,
  KeyReport,
  KeyTrial,
  LoginChoice,
  ModelsReport,
  NewServer,
  ProvidersReport,
  RefreshReport,
  ServerTrial,
  SettingChange,
  SettingFacts,
  UpdateRequest,
  VersionFacts,
} from "../domain/admin_reports.ts";
import type { UnwalledMode } from "../extension/spawn_types.ts";

export interface OpenRequest extends ConfigFlags {
  readonly db?: string | undefined;
  readonly cwd?: string | undefined;
  readonly shell?: UnwalledMode | undefined;
  readonly root?: boolean | undefined;
  /** If present, requests continue only conversations of the workspace and of these folders. */
  readonly serves?: readonly string[];
  readonly reasoning?: "quick" | "balanced" | "deep" | undefined;
  readonly extension?: readonly string[] | undefined;
  /** With the locked profile, Vis requires every wall, and allows no commands, no project settings and only listed
   * extensions. With `writable`, extensions may write into the workspace. */
  readonly locked?: { readonly writable: boolean } | undefined;
  readonly mcpServers?: Readonly<Record<string, object>> | undefined;
  /** If true, the caller closes the session after the request, so programs of the request end with the request. */
  readonly oneRequest?: boolean;
  /** If true and the database is PostgreSQL, the session shares its queries with other processes. */
  readonly node?: boolean;
  /** A session for browsing calls no model, so it needs no provider. */
  readonly browse?: boolean;
  /** If true, the session loads the extensions on first use, and reports no faulty extension. */
  readonly lazyExtensions?: boolean;
  readonly playback?: Playback;
  readonly extensionHome?: string | null | undefined;
}

export interface Session {
  readonly conversations: Conversations;
  readonly workspace: string;
  readonly readFolders?: readonly string[];
  readonly provider: string;
  readonly model: string;
  readonly database: string;
  readonly notes?: readonly string[];
  /** The part of `notes` that stays with `--quiet`. */
  readonly problems?: readonly string[];
  /** If present, the session has no model for this reason. */
  readonly withoutModel?: string;
  /** A running query uses the model from its next model call on. */
  useModel?(model: Pick<Session, "provider" | "model">): Promise<Pick<Session, "provider" | "model">>;
  close(): Promise<void>;
}

export interface ServiceRequest extends OpenRequest {
  readonly profile?: string | undefined;
  readonly writable?: boolean | undefined;
}

export interface ServeRequest extends ServiceRequest {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly tokens?: string | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly reached: readonly string[];
  readonly token: string | null;
  readonly tokenFrom: string;
  readonly provider: string;
  readonly model: string;
  readonly notes: readonly string[];
  /** Waits for running queries, cancels them after a time limit, and closes the session of the server. */
  close(): Promise<void>;
}

export interface OpenedBrowser {
  /** Resolves with "" after the browser program has succeeded, or with the reason why no browser opened. */
  readonly problem: Promise<string>;
  close(): Promise<void>;
}

export interface TelegramRequest extends ServiceRequest {
  readonly tokenFile?: string | undefined;
  readonly deleteWebhook?: boolean | undefined;
  readonly onNote: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface RunningBot {
  readonly username: string;
  readonly provider: string;
  readonly model: string;
  readonly notes: readonly string[];
  /** Rejects with `ConfigError` if Telegram refuses the token or another program polls. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface SpeakRequest extends OpenRequest {
  readonly protocol: "mcp" | "acp";
  readonly onNote: (text: string) => void;
}

export interface ScreenRequest extends OpenRequest {
  readonly continue?: boolean | undefined;
  readonly conversation?: string | undefined;
  readonly request?: string | undefined;
}

export interface Peer {
  /** Resolves when the client has closed the connection, with an error if Vis could open no session for the client. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}

export interface CheckResult {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail" | "off";
  readonly found: string;
  readonly fix: string;
}

export interface ProviderAdmin {
  providers(options: { readonly check: boolean; readonly signal: AbortSignal }): Promise<ProvidersReport>;
  models(options: { readonly provider: string | null; readonly signal: AbortSignal }): Promise<readonly ModelsReport[]>;
  refreshModels(signal: AbortSignal): Promise<RefreshReport>;
  keys(): Promise<readonly KeyReport[]>;
  loginNames(): readonly string[];
  loginChoices(): Promise<readonly LoginChoice[]>;
  /** Sends the key of a model provider or of the bot to its service. Resolves with null for another secret. Rejects
   * with `UsageError` for a malformed key. */
  tryKey(provider: string, key: string, signal: AbortSignal): Promise<KeyTrial | null>;
  loginKind(provider: string): Promise<"key" | "device-login">;
  keyPage(provider: string): string;
  tryServer(server: Pick<NewServer, "baseUrl" | "key">, signal: AbortSignal): Promise<ServerTrial>;
  addServer(server: NewServer): Promise<string>;
  saveKey(provider: string, key: string): Promise<string>;
  deviceLogin(provider: string, options: {
    readonly domain: string;
    readonly signal: AbortSignal;
    readonly onCode: (code: { readonly userCode: string; readonly verificationUri: string }) => void;
  }): Promise<string>;
  logout(provider: string): Promise<boolean>;
}

export interface ConfigAdmin {
  path(options: { readonly project: boolean }): string;
  list(options: { readonly all: boolean }): Promise<readonly SettingFacts[]>;
  explain(key: string): Promise<SettingFacts>;
  schema(): Promise<object>;
  keys(): Promise<readonly { readonly key: string; readonly doc: string; readonly choices: readonly unknown[] }[]>;
  /** Returns the settings key for offers of clients, such as `mcpServers`, or null if no extension accepts such
   * offers. */
  offered(kind: string): string | null;
  layer(given: readonly string[]): Promise<ConfigLayer>;
  set(
    key: string,
    change: { readonly words: readonly string[]; readonly project: boolean; readonly write?: boolean },
  ): Promise<SettingChange>;
  unset(key: string, options: { readonly project: boolean }): Promise<SettingChange>;
  /** Resolves with null if the project has no settings file or an empty one. */
  trustable(): Promise<ConfigTrustFacts | null>;
  trust(facts: ConfigTrustFacts): Promise<void>;
  distrust(path: string): Promise<boolean>;
}

export interface Services {
  readonly version: VersionFacts;
  open(request: OpenRequest): Promise<Session>;
  replayPlace(request: ReplayRequest): Promise<ReplayPlace>;
  serve(request: ServeRequest): Promise<RunningServer>;
  /** Opens an address in the browser of the user, without showing its fragment to other users. */
  openBrowser(address: string): Promise<OpenedBrowser>;
  checkServer(request: ServeRequest): Promise<{ readonly url: string; readonly problem: string }>;
  speak(request: SpeakRequest): Promise<Peer>;
  screen(request: ScreenRequest): Promise<number>;
  telegram(request: TelegramRequest): Promise<RunningBot>;
  /** Of several prompts with the same name, the first one applies. */
  prompts(request: OpenRequest): Promise<readonly { readonly name: string; readonly text: string }[]>;
  doctor(request: OpenRequest & { readonly signal?: AbortSignal | undefined }): Promise<readonly CheckResult[]>;
  /** The text omits the names, keys and paths that Vis recognizes as the user's. */
  doctorReport(request: OpenRequest & { readonly signal?: AbortSignal | undefined }): Promise<string>;
  providerAdmin(request: OpenRequest): Promise<ProviderAdmin>;
  extensionAdmin(request: OpenRequest): Promise<ExtensionAdmin>;
  approvalAdmin(request: OpenRequest): Promise<ApprovalAdmin>;
  configAdmin(request: OpenRequest): Promise<ConfigAdmin>;
  databaseCare(request: OpenRequest): Promise<DatabaseMaintenance>;
  /** After an interruption, the same call continues. */
  copyDatabase(request: DatabaseCopyRequest): Promise<DatabaseCopyReport>;
  /** After a rejection with `ConfigError`, `UsageError` or `Cancelled`, no file has changed. */
  update(request: UpdateRequest): Promise<InstalledRelease | null>;
  respawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number>;
}

export interface Io {
  readonly args: readonly string[];
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdinIsTerminal: boolean;
  /** Returns true for a pipe, a socket or a file. */
  readonly stdinIsPiped: () => boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  readonly stdoutColor: boolean;
  readonly stderrColor: boolean;
  readonly columns: () => number;
  readonly rows: () => number;
  readStdin(): Promise<string>;
  /** A caller calls either `stdinPieces` or `readStdin`. */
  stdinPieces(): AsyncIterable<Uint8Array>;
  /** Rejects with `UsageError` without a terminal, and with `Cancelled` on Ctrl-C, or on Ctrl-D in an empty line. With
   * `typedNow`, ignores lines that the user typed before the prompt. */
  askLine(question: string, options?: { readonly typedNow?: boolean }): Promise<string>;
  askSecret(question: string): Promise<string>;
  /** Calls `run` on the first signal that asks the process to end, and when stdout loses its reader, until the
   * caller calls the returned function. A second signal ends the process, except SIGHUP while work runs. */
  onInterrupt(run: () => void): () => void;
}
