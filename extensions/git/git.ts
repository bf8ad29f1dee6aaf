import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import {
  advised,
  clip,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  type GitSetting,
  isSecretFile,
  isWithin,
  messageOf,
  parseGitConfig,
  shorten,
  smallTextFile,
  someOf,
  userGitSettings,
} from "@vis/extension";
import { adviceBelow, closestRepository, findRepository, type Repository, topOf } from "./repository.ts";
import { MARK, overridesOf, SAFE_ENVIRONMENT, safeArguments, specialSection } from "./safe_config.ts";

type Spawn = NonNullable<EnvironmentView["spawn"]>;
type SpawnOptions = NonNullable<Parameters<Spawn>[1]>;

const TIMEOUT_MS = 120_000;
/** Hooks may run tests. */
const HOOKS_MS = 600_000;

const MAX_BYTES = 4 << 20;

/** Git runs or obeys these parts of a repository, so the command wall keeps them read-only, except `config` if git may
 * change settings. */
export const OBEYED_PARTS: readonly string[] = [
  "config",
  "config.worktree",
  "commondir",
  "hooks",
  "info/attributes",
  "modules",
];

const CHANGED = ["objects", "refs", "logs", "worktrees"];

const SHOWN_CALL = 2_000;

export interface GitOptions {
  readonly input?: string | ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The wall lets git and programs that it starts change this part. */
  readonly changes?: "repository" | "settings" | "workspace";
  readonly opens?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly take?: (chunk: Uint8Array) => void;
  /** The user has allowed the hooks. Git then runs like a command: with the settings of the repository, and with their
   * programs. */
  readonly hooks?: HookRun;
}

export interface HookRun {
  readonly folder: string;
  readonly keep: readonly string[];
  /** If true, the hooks may change all of the repository around the workspace. */
  readonly isOpen: boolean;
  readonly onOutput?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const PATHS_FIRST: readonly string[] = ["add", "restore", "blame"];

export type Call = readonly [name: string, ...args: unknown[]];

export function spawnOf({ spawn }: EnvironmentView): Spawn {
  if (spawn) return spawn;
  throw new Error("Cannot use git: Vis starts no programs in the locked profile");
}

export class Git {
  readonly repository: Repository;
  readonly #env: EnvironmentView;
  readonly #spawn: Spawn;
  readonly #call: Call | null;
  #allowed: Promise<void> | null = null;
  #allowedAll: Promise<void> | null = null;
  #settings: readonly GitSetting[] = [];
  #overrides: Readonly<Record<string, string>> = {};

  protected constructor(
    env: EnvironmentView,
    { repository, spawn, call }: {
      readonly repository: Repository;
      readonly spawn: Spawn;
      readonly call: Call | null;
    },
  ) {
    this.#env = env;
    this.#call = call;
    this.#spawn = spawn;
    this.repository = repository;
  }

  static async of(env: EnvironmentView, call: Call | null = null): Promise<Git> {
    const spawn = spawnOf(env);
    const repository = await findRepository(topOf(env));
    if (repository === null) {
      const closest = closestRepository(env.workspace);
      const below = closest === null ? await adviceBelow(env.workspace) : null;
      const [why, advice] = closest === null
        ? ["no repository is in the workspace or above it", below ?? "git.init() makes one"]
        : closest === env.workspace
        ? [".git of the workspace is not a repository", "ask the user to repair or remove it"]
        : [`the workspace is in the repository of ${closest}`, "ask the user to start Vis there"];
      throw advised(new Error(`Cannot use git: ${why}`), advice);
    }
    const git = new Git(env, { repository, spawn, call });
    await git.#readSettings();
    return git;
  }

  get settings(): readonly GitSetting[] {
    return this.#settings;
  }

  place(path: string): string {
    const { workspace } = this.#env, top = topOf(this.#env);
    if (top === workspace || path.startsWith('"')) return path;
    return `${relative(workspace, resolve(top, path)) || "."}${path.endsWith("/") ? "/" : ""}`;
  }

  /** Patterns of secret files are relative to the workspace, or to the top of the repository around it. */
  isSecret(path: string): boolean {
    const { workspace, secrets = [] } = this.#env;
    return isSecretFile(isWithin(topOf(this.#env), workspace) ? this.place(path) : path, secrets);
  }

  places(paths: readonly string[]): string {
    return someOf(paths.map((path) => this.place(path)));
  }

  async mayChange(): Promise<void> {
    await (this.#allowed ??= this.#askToChange());
  }

  /** The user has allowed more than the changes of the call, so Vis asks no second question. */
  allowed(): void {
    this.#allowed = Promise.resolve();
  }

  get callText(): string {
    return this.#call === null ? "" : this.#callText(this.#call);
  }

  get env(): EnvironmentView {
    return this.#env;
  }

  get config(): unknown {
    return this.#env.config;
  }

  /** A failed run is a result. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
    const { changes, hooks } = options;
    const { signal } = this.#env;
    signal?.throwIfAborted();
    if (changes) await (this.#allowed ??= this.#askToChange());
    if (changes === "workspace") await (this.#allowedAll ??= this.#askForAll());
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const timeoutMs = hooks ? HOOKS_MS : TIMEOUT_MS;
    const timer = setTimeout(end, timeoutMs);
    signal?.addEventListener("abort", end);
    try {
      const [argv, how] = hooks ? this.#withHooks(args, options, hooks) : await this.#safely(args, options);
      const { code, signal: ended, stdout, stderr, notes } = await this.#spawn(argv, {
        answered: true,
        // Git removes its lock files on SIGTERM, but leaves the files on SIGKILL.
        lifetime: "conversation",
        stop: stop.signal,
        timeoutMs: timeoutMs + 10_000,
        ...how,
      });
      for (const note of notes) this.#env.note?.(note);
      signal?.throwIfAborted();
      if (stop.signal.aborted) {
        throw advised(
          new Error(`Cannot finish git ${commandOf(args)}: it ran longer than ${timeoutMs / 1000} s, the limit`),
          "ask the user to run it",
        );
      }
      return { code, stdout, stderr: ended === null ? stderr : `${stderr}${ended} ended git` };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  async #safely(args: readonly string[], options: GitOptions): Promise<readonly [string[], SpawnOptions]> {
    const { input, take, changes, opens = [], env = {} } = options;
    const { gitDir, commonDir, workspace } = this.repository;
    const where = { GIT_DIR: gitDir, GIT_COMMON_DIR: commonDir, GIT_WORK_TREE: workspace };
    const locks = changes ? {} : { GIT_OPTIONAL_LOCKS: "0" };
    return [["git", "-C", workspace, ...safeArguments(), ...args], {
      cwd: null, // Git starts outside the workspace, and -C names the repository.
      maxBytes: take ? 64 << 10 : MAX_BYTES,
      ...(input === undefined ? {} : { input }),
      env: { ...SAFE_ENVIRONMENT, ...where, ...locks, ...this.#overrides, ...env },
      network: false,
      pauses: changes === "workspace",
      read: this.#outside(),
      write: [...await this.#mayChange(changes), ...await existing(opens)],
      keep: changes
        ? [...new Set([gitDir, commonDir])].flatMap((folder) =>
          OBEYED_PARTS.filter((name) => changes !== "settings" || name !== "config").map((name) => join(folder, name))
        )
        : [],
      ...(take ? { onOutput: (output, bytes) => output === "stdout" ? take(bytes) : undefined } : {}),
    }];
  }

  #withHooks(
    args: readonly string[],
    { input, env = {} }: GitOptions,
    { folder, keep, isOpen, onOutput }: HookRun,
  ): readonly [string[], SpawnOptions] {
    const { repository: { workspace: top }, env: { workspace, root = workspace, conversationId } } = this;
    const isInside = [top, ...this.#outside()].some((path) => isWithin(folder, path));
    return [["git", "-c", `core.hooksPath=${folder}`, ...args], {
      cwd: relative(workspace, top) || ".",
      maxBytes: MAX_BYTES,
      ...(input === undefined ? {} : { input }),
      env: { GIT_EDITOR: ":", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C.UTF-8", ...env },
      loopback: conversationId,
      hideSecrets: { except: [], instead: "# Hidden from hooks of git\n" },
      read: [...this.#outside(), ...isInside ? [] : [folder]],
      write: [isOpen ? root : workspace, join(top, ".git")],
      keep,
      keepsNamed: true,
      ...(onOutput ? { onOutput: (_output, bytes) => onOutput(bytes) } : {}),
    }];
  }

  #outside(): readonly string[] {
    const { gitDir, commonDir, workspace } = this.repository;
    return [gitDir, commonDir].filter((path) => !isWithin(path, workspace));
  }

  async obeyedOf(names: readonly string[]): Promise<readonly string[]> {
    const { workspace, obeyedPaths } = this.#env, top = this.repository.workspace;
    const found = await obeyedPaths?.(names.map((name) => relative(workspace, join(top, name)))) ?? [];
    return found.map(({ path }) => path);
  }

  async #askToChange(): Promise<void> {
    await askToChange(this.#env, () => {
      if (this.#call === null) throw new Error("Cannot change the repository: this call only reads");
      return { name: this.#call[0], what: "change this repository", exact: this.#callText(this.#call) };
    });
  }

  async #askForAll(): Promise<void> {
    const { workspace: top } = this.repository, [name = ""] = this.#call ?? [];
    const isIn = (path: unknown): boolean => isWithin(resolve(top, String(path)), this.#env.workspace);
    if (isWithin(top, this.#env.workspace) || this.#call === null) return;
    if (name === "restore" && [this.#call[1]].flat().every(isIn)) return;
    const { allowed = false, reason = "no user can answer here" } = await this.#env.openRoot?.(
      `let git change files in all of ${top}, the repository around the workspace`,
      { exact: this.#callText(this.#call) },
    ) ?? {};
    if (allowed) return;
    throw new Error(
      `Cannot call git.${name}: it can change files of ${top} outside the workspace, and ${reason}; ` +
        "the user can start Vis with --root to allow it",
    );
  }

  #callText([name, ...args]: Call): string {
    const placed = (named: unknown): unknown =>
      Array.isArray(named) ? named.map(placed) : typeof named === "string" ? this.place(named) : named;
    const isGiven = (arg: unknown): boolean =>
      arg !== undefined && (typeof arg !== "object" || arg === null || Object.keys(arg).length > 0);
    const given = args.map((arg, at) => {
      if (at === 0 && PATHS_FIRST.includes(name)) return placed(arg);
      const paths: unknown = Object(arg).paths;
      return paths === undefined ? arg : { ...Object(arg), paths: placed(paths) };
    });
    const shown = (most: number): string =>
      given.filter(isGiven).map((arg) => JSON.stringify(arg, (_key, part) => clipped(part, most))).join(", ");
    let most = SHOWN_CALL;
    while (most > 1 && shown(most).length > SHOWN_CALL) most = Math.floor(most / 2);
    return `git.${name}(${shown(most)})`;
  }

  async #mayChange(changes: GitOptions["changes"]): Promise<readonly string[]> {
    if (!changes) return [];
    const { gitDir, commonDir, workspace } = this.repository;
    const shared = commonDir === gitDir || isWithin(commonDir, workspace)
      ? [commonDir]
      : await existing(CHANGED.map((name) => join(commonDir, name)));
    return [...new Set([gitDir, ...shared, ...(changes === "workspace" ? [workspace] : [])])];
  }

  /** Some sections of a repository's settings can name programs, so Vis overrides the settings of these sections. */
  async #readSettings(): Promise<void> {
    const { gitDir, commonDir } = this.repository;
    const paths = [
      ...new Set([join(commonDir, "config"), join(commonDir, "config.worktree"), join(gitDir, "config.worktree")]),
    ];
    const texts = await Promise.all(paths.map((path) => this.#settingsText(path)));
    if (texts.every((text) => text !== null && specialSection(text) === null)) {
      this.#settings = texts.flatMap((text) => parseGitConfig(text ?? ""));
      return;
    }
    const { code, stdout, stderr } = await this.run(["config", "--list", "--show-scope", "-z", "--includes"], {
      env: overridesOf([]),
    });
    const fields = stdout.split("\0"), records = fields.filter((_, at) => at % 2 === 1);
    const listed = records.map((one) => one.split("\n", 1)[0] ?? "");
    if (code !== 0) {
      throw advised(
        new Error(`Cannot use git: git config failed (${plainReason(stderr)})`),
        "ask the user to repair the configuration of git",
      );
    }
    if (!listed.includes(MARK)) {
      const section = texts.map((text) => text && specialSection(text)).find((name) => name) ?? null;
      const cause = section === null ? "a link, or a large or unreadable file," : `the section [${section}]`;
      const [found] = /\d+(?:\.\d+)+/.exec((await this.run(["--version"])).stdout) ?? [];
      const installed = found === undefined ? "an older git" : `git ${found}`;
      throw new Error(
        `Cannot use git: ${cause} in this repository's settings needs git ${OVERRIDES_FROM.join(".")}, and ` +
          `${installed} is installed; update git${section === null ? "" : " or remove the section"}`,
      );
    }
    this.#overrides = overridesOf(listed);
    this.#settings = records.filter((_, at) => fields[2 * at] !== "command").flatMap(settingOf);
  }

  /** Returns null for a link within the repository and for a large or unreadable file. Rejects with Error for a link out
   * of the repository, and for a link without a target, because git would skip the file. */
  async #settingsText(path: string): Promise<string | null> {
    const info = await Deno.lstat(path).catch(() => null);
    if (info === null) return "";
    if (!info.isSymlink) return await smallTextFile(path);
    const real = await Deno.realPath(path).catch(() => null), target = real ?? await Deno.readLink(path);
    const { workspace, gitDir, commonDir } = this.repository;
    if (real !== null && [workspace, gitDir, commonDir].some((folder) => isWithin(real, folder))) return null;
    const cause = real === null ? "whose target is missing or unreadable" : "out of the repository";
    throw advised(
      new Error(`Cannot use git: ${path} is a link ${cause} (${target})`),
      "ask the user to replace it with a file",
    );
  }
}

/** Git commits nothing if one of these hooks fails. */
export const REFUSING_HOOKS: readonly string[] = ["pre-commit", "prepare-commit-msg", "commit-msg"];
/** Each commit runs these hooks. */
export const COMMIT_HOOKS: readonly string[] = [...REFUSING_HOOKS, "post-commit"];

export interface Hooks {
  readonly names: readonly string[];
  readonly looked: readonly string[];
  readonly folder: string;
  /** If true, the settings of the repository name the folder. */
  readonly isNamed: boolean;
}

export async function hooksOf(
  { repository: { workspace, commonDir, gitDir }, settings }: Git,
  looked: readonly string[],
): Promise<Hooks> {
  const home = homedir();
  const named = (all: readonly GitSetting[]): string | undefined =>
    all.findLast(({ section, key }) => section === "core" && key === "hookspath")?.value;
  const own = named(settings), path = own ?? named(await userGitSettings({ home, gitDir }));
  const folder = path === undefined
    ? join(commonDir, "hooks")
    : resolve(workspace, path.replace(/^~(?=\/)/, () => home));
  const names = looked.filter((name) => {
    try {
      const info = statSync(join(folder, name));
      return info.isFile() && (info.mode & 0o111) !== 0;
    } catch {
      return false;
    }
  });
  return { names, looked, folder, isNamed: own !== undefined };
}

/** Each long text and each long list ends early, so that later options stay visible. */
function clipped(part: unknown, most: number): unknown {
  if (typeof part === "string") return clip(part, most);
  const shown = Math.ceil(most / 4);
  if (!Array.isArray(part) || part.length <= shown) return part;
  return [...part.slice(0, shown), `… ${part.length - shown} more`];
}

function commandOf(args: readonly string[]): string {
  return args.find((arg, at) => !arg.startsWith("-") && args[at - 1] !== "-c") ?? "";
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(paths.map((path) => Deno.stat(path).then(() => true, () => false)));
  return paths.filter((_, at) => there[at]);
}

function settingOf(record: string): readonly GitSetting[] {
  const [name = "", ...value] = record.split("\n");
  const [, section = "", sub, key] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/s.exec(name) ?? [];
  return key === undefined ? [] : [{ section, subsection: sub ?? null, key, value: value.join("\n") }];
}

/** If the wall is incomplete and `shell.unwalled` is "ask", Vis asks the user. */
export async function askToChange(
  { programWalls, approve }: EnvironmentView,
  change: () => Readonly<Record<"name" | "what", string> & { exact?: string }>,
): Promise<void> {
  const { unwalled } = await programWalls?.() ?? {};
  if (unwalled?.mode !== "ask") return;
  const { name, what, exact } = change();
  const { allowed = false, reason = "no user can answer here" } = await approve?.({
    what,
    exact,
    why: `The command wall is incomplete: ${unwalled.reason}. Hooks, filters and helpers of the repository are off.`,
    scope: `changes by git.${name}`,
    option: "--set shell.unwalled=run",
  }) ?? {};
  if (allowed) return;
  throw new Error(
    `Cannot call git.${name}: ${reason} (Vis asks before each change, because ${unwalled.reason}); ` +
      "vis doctor shows how to complete the command wall",
  );
}

const WORDS = {
  noCommit: /does not have any commits yet|bad default revision/,
  notMerged: /is not fully merged/,
  checkedOut: /cannot delete branch .* (?:checked out|used by worktree) at/i,
  notClean: /contains modified or untracked files/,
  unmerged: /needs merge|resolve your current index/i,
  uncommitted: /you have unstaged changes|your index contains uncommitted changes|cannot .*: your local changes/i,
  untracked: /untracked working tree files/,
  empty: /is now empty|nothing (?:added )?to commit|no changes added to commit/,
  noPath: /no such file|cannot stat path/i,
  notInCommit: /no such path/i,
  noRef:
    /unknown revision|bad revision|ambiguous argument|not a valid object|invalid object|does not exist in|invalid reference|no such ref|not a commit|not a valid ref|needed a single revision/i,
} as const;

const ADVICE =
  /^(?:hint:|warning:|\s*git [a-z]|if you (?:wish|want)|otherwise, please|please |and the repository exists|consider "git |\(?use ["'])/i;

const MAX_REASON = 600;

export function gitSays(what: keyof typeof WORDS, stderr: string): boolean {
  // deno-lint-ignore vis/no-message-parsing -- git's exit codes do not distinguish errors
  return WORDS[what].test(stderr);
}

export function unmatchedPath(stderr: string): string | undefined {
  // deno-lint-ignore vis/no-message-parsing -- git's exit codes do not distinguish errors
  return /pathspec '(.*)' did not match any file/.exec(stderr)?.[1];
}

function overwrittenPaths(stderr: string): readonly string[] {
  const listed = /would be (?:overwritten|removed) by [\w -]+:\n((?:[ \t]+\S.*\n)+)/.exec(`${stderr}\n`)?.[1] ?? "";
  return listed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function reasonLines(output: string): readonly string[] {
  const lines = output.trim().split("\n").filter((line) => !ADVICE.test(line));
  return lines.map((line) => line.replace(/^(fatal|error): /, "").trim().replace(/[.;]+$/, "")).filter((line) =>
    line !== ""
  );
}

export function plainReason(stderr: string): string {
  const text = reasonLines(stderr).join(", ").replaceAll(":, ", ": ");
  const plain = text || stderr.trim() || "git gave no reason";
  return shorten(plain, MAX_REASON).replace(/[.;]+$/, "");
}

/** Git writes some reasons to standard output, for example that no file has changed. */
export function reasonedOutput({ stdout, stderr }: Pick<GitResult, "stdout" | "stderr">): string {
  return reasonLines(stderr).length > 0 ? stderr : stdout.trim() || stderr;
}

export function gitRefusal(git: Git, result: Pick<GitResult, "stdout" | "stderr">, cannot: string): Error {
  const { why, advice } = gitReason(git, result);
  const error = new Error(`${cannot}: ${why}`);
  return advice === undefined ? error : advised(error, advice);
}

export function gitReason(
  git: Git,
  result: Pick<GitResult, "stdout" | "stderr">,
): { readonly why: string; readonly advice?: string } {
  const said = reasonedOutput(result);
  const paths = overwrittenPaths(said);
  if (paths.length > 0) {
    return gitSays("untracked", said)
      ? { why: untracked(git, paths), advice: MOVE }
      : { why: `it would overwrite uncommitted changes of ${git.places(paths)}`, advice: KEEP };
  }
  if (gitSays("unmerged", said)) {
    return { why: "files have conflicts", advice: "edit the files of git.status(), then git.add them" };
  }
  if (gitSays("uncommitted", said)) return { why: "the workspace has uncommitted changes", advice: KEEP };
  if (gitSays("empty", said)) return { why: "no change is left, so the new commit would be empty" };
  return { why: plainReason(said) };
}

const KEEP = "git.commit or git.stash them first", MOVE = "move these files first";

function untracked(git: Git, paths: readonly string[]): string {
  return `it would overwrite or remove ${git.places(paths)}, which git does not track`;
}

export function untrackedLoss(git: Git, paths: readonly string[], cannot: string): Error {
  return advised(new Error(`${cannot}: ${untracked(git, paths)}`), MOVE);
}

/** This version of git introduced GIT_CONFIG_COUNT. */
const OVERRIDES_FROM = [2, 31] as const;

export async function checkGit(
  { spawn, spawnInWorkspace }: DoctorContext,
): Promise<readonly DoctorCheck[]> {
  if (!spawn || !spawnInWorkspace) return [];
  const name = "git";
  try {
    const { stdout } = await spawn(["git", "--version"]);
    const found = stdout.trim();
    const [, major, minor] = /(\d+)\.(\d+)/.exec(found) ?? [];
    const [leastMajor, leastMinor] = OVERRIDES_FROM;
    const old = Number(major) < leastMajor || Number(major) === leastMajor && Number(minor) < leastMinor;
    if (!old) return [{ name, state: "ok", found, fix: "" }];
    const fix =
      `Install git ${OVERRIDES_FROM.join(".")} or later: without it, Vis refuses repositories whose settings ` +
      "have filters, aliases, included files or other special sections";
    return [{ name, state: "warn", found, fix }];
  } catch (error) {
    const found = messageOf(error);
    const fix =
      "If git is missing, install it in /usr/bin or /usr/local/bin: without git, the extension git is inactive or its calls fail";
    return [{ name, state: "warn", found, fix }];
  }
}
