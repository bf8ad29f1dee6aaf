import type { Conversations } from "../conversation/conversations.ts";
import type { Playback } from "../domain/records/playback.ts";
import type { DatabaseMaintenance } from "../domain/records/database_maintenance.ts";
import type {
  ExtensionCheck,
  ExtensionCommandFacts,
  ExtensionFacts,
  TrustFacts,
} from "../domain/reports/extension_report.ts";
import type { ConfigTrustFacts, SettingChange, SettingFacts } from "../domain/reports/setting_facts.ts";
import type {
  KeyReport,
  KeyTrial,
  LoginChoice,
  ModelsReport,
  ProvidersReport,
} from "../domain/reports/provider_report.ts";
import type { ReplayPlace, ReplayRequest } from "../domain/records/replay_place.ts";

/** What a channel says about how it wants to work; everything else comes from the configuration. */
export interface OpenRequest {
  readonly db?: string | undefined;
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly maxIterations?: number | undefined;
  /** Most a query may cost in US dollars. */
  readonly maxCostUsd?: number | undefined;
  /** Longest a query may take. */
  readonly timeoutMs?: number | undefined;
  /** In place of what the model asks for each iteration. */
  readonly reasoning?: "quick" | "balanced" | "deep" | undefined;
  /** Names of extensions to leave out, besides those that the configuration denies. */
  readonly noExtension?: readonly string[] | undefined;
  /** Folders of extensions to load besides; one that cannot be loaded is an error. */
  readonly extension?: readonly string[] | undefined;
  /** Every wall must hold, no commands, no settings of the project, only listed extensions; `writable`: they may write
   * into the workspace. */
  readonly locked?: { readonly writable: boolean } | undefined;
  /** Servers of the Model Context Protocol that a client offers, by name: for the extension that takes them. What the
   * user configured under the same name comes first. */
  readonly mcpServers?: Readonly<Record<string, object>> | undefined;
  /** Nothing will be asked of a model: no provider is needed. */
  readonly browse?: boolean;
  /** In place of a model: the replies of a recorded conversation. */
  readonly playback?: Playback;
  /** What extensions are told is Vis's own folder, where that is another one. */
  readonly extensionHome?: string | null | undefined;
}

/** Vis opened on one database and one workspace. Whoever opened it closes it, last. */
export interface Session {
  readonly conversations: Conversations;
  /** Real path. */
  readonly workspace: string;
  readonly provider: string;
  readonly model: string;
  /** Where the database is. */
  readonly database: string;
  /** Queries of processes that no longer exist, ended as interrupted when this session opened. */
  readonly swept: number;
  /** What a user should know about how the provider was chosen. */
  readonly notes?: readonly string[];
  close(): Promise<void>;
}

/** What a channel that goes on and serves others is told of its profile. */
export interface ServiceRequest extends OpenRequest {
  /** "open" or "locked"; VIS_PROFILE where it is left out. */
  readonly profile?: string | undefined;
  /** Whether extensions of the locked profile may write into the workspace. */
  readonly writable?: boolean | undefined;
}

/** Where the HTTP channel listens and what it asks of a client; the rest comes from the configuration. */
export interface ServeRequest extends ServiceRequest {
  readonly host?: string | undefined;
  /** 0 takes one that is free. */
  readonly port?: number | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  /** File with a list of tokens, in place of the one. */
  readonly tokens?: string | undefined;
}

/** The HTTP channel at work, with a session of its own. Whoever started it closes it. */
export interface RunningServer {
  /** With the port that was taken, and "/" at the end. */
  readonly url: string;
  /** Null where there is a list of them. */
  readonly token: string | null;
  /** A flag, a variable or a path. */
  readonly tokenFrom: string;
  readonly provider: string;
  readonly model: string;
  /** What an operator should know. */
  readonly notes: readonly string[];
  /** Lets running queries end, cancels those that take too long, and closes everything. */
  close(): Promise<void>;
}

/** How the bot of Telegram is run; the rest comes from the configuration. */
export interface TelegramRequest extends ServiceRequest {
  /** In place of VIS_TELEGRAM_TOKEN and of the one that is kept. */
  readonly tokenFile?: string | undefined;
  /** Takes away a webhook that is set for the bot: with one there is no polling. */
  readonly deleteWebhook?: boolean | undefined;
  /** What an operator should know, as it happens. */
  readonly onNote: (text: string) => void;
  /** Ends the attempts to reach Telegram at the start. */
  readonly signal: AbortSignal;
}

/** The bot at work, with sessions of its own. Whoever started it closes it. */
export interface RunningBot {
  readonly username: string;
  readonly provider: string;
  readonly model: string;
  readonly notes: readonly string[];
  /** Rejects where it cannot go on, with `ConfigError` for a refused token and another program that polls. */
  readonly ended: Promise<void>;
  /** Lets running queries end, cuts those that take too long, and closes everything. */
  close(): Promise<void>;
}

/** A client of a protocol on stdin and stdout: nothing else may be written there. */
export interface SpeakRequest extends OpenRequest {
  readonly protocol: "mcp" | "acp";
}

/** Vis on the terminal: a new conversation where none is named. */
export interface ScreenRequest extends OpenRequest {
  /** The newest one of this workspace. */
  readonly continue?: boolean | undefined;
  /** Its id, or how it begins. */
  readonly conversation?: string | undefined;
}

export interface Peer {
  /** The client closed its end. */
  readonly ended: Promise<void>;
  /** Cancels what runs for the client and closes everything. */
  close(): Promise<void>;
}

export interface VersionFacts {
  readonly vis: string;
  readonly deno: string;
  readonly v8: string;
  readonly compiled: boolean;
  readonly target: string;
}

export interface CheckResult {
  readonly name: string;
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do about it, "" where nothing is to be done. */
  readonly mend: string;
}

/** Providers, their models and keys. Everything rejects with `ConfigError` for settings and key files that cannot be
 * used; a provider that is not known is one as well. */
export interface ProviderAdmin {
  /** `check`: each is asked for its models. */
  providers(options: { readonly check: boolean; readonly signal: AbortSignal }): Promise<ProvidersReport>;
  /** Of one provider, or of those that serve a query where null. */
  models(options: { readonly provider: string | null; readonly signal: AbortSignal }): Promise<readonly ModelsReport[]>;
  keys(): Promise<readonly KeyReport[]>;
  /** Providers that a key can be kept for. */
  loginNames(): readonly string[];
  /** The same, and servers that were found on this machine before them. */
  loginChoices(): Promise<readonly LoginChoice[]>;
  /** Asks the service; nothing is kept. Null for a key that belongs to no model. Rejects with `UsageError` for what is no
   * key. */
  tryKey(provider: string, key: string, signal: AbortSignal): Promise<KeyTrial | null>;
  loginKind(provider: string): Promise<"key" | "device-login">;
  /** Resolves with the file that holds it now. Rejects with `UsageError` for what is no key. */
  saveKey(provider: string, key: string): Promise<string>;
  /** Shows a code by `onCode` and waits until it was typed in. Rejects with `ProviderError` and `Cancelled`. */
  deviceLogin(provider: string, options: {
    readonly domain: string;
    readonly signal: AbortSignal;
    readonly onCode: (code: { readonly userCode: string; readonly verificationUri: string }) => void;
  }): Promise<string>;
  /** False where no key was kept. */
  logout(provider: string): Promise<boolean>;
}

/** Extensions of this workspace. Everything rejects with `UsageError` for what is asked for and is not there, and with
 * `ConfigError` for settings and folders that cannot be used. */
export interface ExtensionAdmin {
  list(): Promise<readonly ExtensionFacts[]>;
  /** What the model reads of one, with its functions in full. */
  show(name: string): Promise<ExtensionFacts & { readonly text: string }>;
  /** Of one folder, or of everything that is found where null. */
  check(path: string | null): Promise<readonly ExtensionCheck[]>;
  /** Writes a working extension; resolves with its folder. */
  create(name: string): Promise<string>;
  /** Copies a folder, an archive or a package (npm:name@version) to the user's own; resolves with the new folder. */
  add(from: string, options: { readonly replace: boolean }): Promise<string>;
  /** Deletes one of the user's own; resolves with its folder. */
  remove(name: string): Promise<string>;
  /** Folders of this project, or the one that is named. Nothing of them is run. */
  trustable(path: string | null): Promise<readonly TrustFacts[]>;
  /** Rejects where the folder has another content by now. */
  trust(facts: TrustFacts): Promise<void>;
  distrust(path: string): Promise<boolean>;
  /** What they add to the program, from a list that is kept where nothing has changed. */
  commands(): Promise<readonly ExtensionCommandFacts[]>;
  /** Runs a command of an extension; null where none has it. */
  run(args: readonly string[], print: (text: string) => void): Promise<number | null>;
}

/** The configuration. Everything that needs all of it rejects with `ConfigError` where a file cannot be used; a key that
 * is none, and a value that does not fit, is a `UsageError`. */
export interface ConfigAdmin {
  /** The file that `set` writes, there or not. */
  path(options: { readonly project: boolean }): string;
  /** Keys that somebody has set, or all. */
  list(options: { readonly all: boolean }): Promise<readonly SettingFacts[]>;
  explain(key: string): Promise<SettingFacts>;
  /** Of the files, as JSON Schema. */
  schema(): Promise<object>;
  /** Names for completion. */
  keys(): Promise<readonly { readonly key: string; readonly doc: string; readonly choices: readonly unknown[] }[]>;
  set(key: string, change: { readonly words: readonly string[]; readonly project: boolean }): Promise<SettingChange>;
  unset(key: string, options: { readonly project: boolean }): Promise<SettingChange>;
  /** The project's file; null where there is none. */
  trustable(): Promise<ConfigTrustFacts | null>;
  /** Rejects with `UsageError` where the file has another text by now. */
  trust(facts: ConfigTrustFacts): Promise<void>;
  distrust(path: string): Promise<boolean>;
}

/** What `app.ts` hands to a channel. Building is its business: a channel only asks. */
export interface Services {
  readonly version: VersionFacts;
  /** Rejects with `ConfigError`, `UsageError` (a folder that is none) or `StoreError`. */
  open(request: OpenRequest): Promise<Session>;
  /** Rejects with `UsageError` where the workspace is none or cannot be copied, and with `Cancelled` at the signal. */
  replayPlace(request: ReplayRequest): Promise<ReplayPlace>;
  /** Rejects as `open`, and with `ConfigError` where the address or the token cannot be used. */
  serve(request: ServeRequest): Promise<RunningServer>;
  /** Rejects as `open`. */
  speak(request: SpeakRequest): Promise<Peer>;
  /** Takes the terminal until the user leaves; resolves with the exit code. Rejects as `open`, before anything is
   * drawn. */
  screen(request: ScreenRequest): Promise<number>;
  /** Rejects as `open`, with `ConfigError` where there is no token or it is refused, and with `Cancelled` at the signal. */
  telegram(request: TelegramRequest): Promise<RunningBot>;
  /** Rejects with `Cancelled` at the signal. */
  doctor(request: OpenRequest & { readonly signal?: AbortSignal | undefined }): Promise<readonly CheckResult[]>;
  providerAdmin(request: OpenRequest): Promise<ProviderAdmin>;
  extensionAdmin(request: OpenRequest): Promise<ExtensionAdmin>;
  /** Reads no file before it is asked something. Rejects with `UsageError` for a workspace that cannot be used. */
  configAdmin(request: OpenRequest): Promise<ConfigAdmin>;
  /** Care of the database that `open` would use, without opening it. */
  databaseCare(request: OpenRequest): Promise<DatabaseMaintenance>;
  /** Runs this program again with other arguments on the same terminal; resolves with its exit code. */
  respawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number>;
}

/** The terminal or pipe a channel talks to. */
export interface Io {
  readonly args: readonly string[];
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Whether colours are wanted: a terminal, and no NO_COLOR. */
  readonly stdoutColor: boolean;
  readonly stderrColor: boolean;
  readonly columns: () => number;
  /** Rejects with `UsageError` for what is no text. */
  readStdin(): Promise<string>;
  /** Asks on the terminal for a line. Rejects with `UsageError` where there is no terminal, and with `Cancelled` at
   * Ctrl-C and Ctrl-D. */
  askLine(question: string): Promise<string>;
  /** Asks on the terminal for a line that is not shown while it is typed. Rejects with `UsageError` where there is no
   * terminal, and with `Cancelled` at Ctrl-C. */
  askSecret(question: string): Promise<string>;
  /** Calls `run` at Ctrl-C, at SIGTERM, at SIGHUP and when nobody reads stdout any more, until the returned function is
   * called. From the first call of this method on, one signal does not end the process, so that what ran can be closed;
   * a second one, other than SIGHUP, does. Throws `ConfigError` where a limit of the process is too low. */
  onInterrupt(run: () => void): () => void;
}
