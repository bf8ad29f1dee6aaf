import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { Pace } from "../../domain/kit/concurrency.ts";
import { isBelow, isWithin, joinUnresolved, smallTextFile } from "../../domain/kit/files.ts";
import { everyGitSetting, type GitSetting, isSha256, untilde } from "../../domain/kit/git_config.ts";
import { namedGitFolder } from "../../domain/kit/git_repository.ts";
import { counted } from "../../domain/kit/text.ts";
import type { WallOptions } from "../_granted_paths.ts";
import { entryKind, isFile, plainName, realPathOf } from "../_paths.ts";
import { GIT, GitIndexes, ownSettings, repositoryFolders } from "./repositories.ts";
import { folderEntries, keptStampOf, stampOf } from "../folder_entries.ts";

export const VIS = ".vis";
/** These parts of a repository decide which files git runs and reads, and may be links. */
const IN_GIT =
  "HEAD config config.worktree commondir hooks index info info/attributes modules objects packed-refs rebase-merge refs sequencer worktrees"
    .split(" ");
const MOST_LINKS = 200, MOST_WORDS = 2_000, MOST_MODULES = 2_000, MODULES_DEPTH = 4, VIS_DEPTH = 2;
const MOST_LISTED = 1_000, MOST_KNOWN = 2_500, MOST_CLAIMS = 100_000;
const MOST_VISITED = 20_000;

/** The path may have `..` after links. In `ProtectedPaths`, a `word` counts only if the path is a file, and a `near`
 * also if the folder of the path exists. A `file` or a `folder` counts even if the path is missing. */
interface Claim {
  readonly path: string;
  readonly as: "part" | "word" | "near" | "file" | "folder";
  /** The reason ends a sentence: "…, which git runs". */
  readonly reason: string;
  readonly runs?: boolean;
}

interface Claims {
  readonly claims: readonly Claim[];
  readonly from: Iterable<string>;
  readonly others: readonly string[];
}

export type SettingsPlaces = Pick<WallOptions, "home" | "visHome" | "env" | "database">;

interface UserSettings extends Awaited<ReturnType<typeof everyGitSetting>> {
  readonly home: string;
  readonly from: Stamps;
}

async function userSettings(places: SettingsPlaces): Promise<UserSettings> {
  const home = homeOf(places), { env } = places;
  const named = namedSettings(places);
  const usual = ["/etc/gitconfig", join(home, ".config/git/config"), join(home, ".gitconfig")];
  const files = [...new Set([...named, ...usual])];
  const since = Date.now(), read = await everyGitSetting(files, home);
  const settings = [...read.settings, ...variableSettings(env)];
  return { home, from: new Stamps([...files, ...read.included], since), included: read.included, settings };
}

const RUN_VARIABLES =
  "EDITOR GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND PAGER SSH_ASKPASS VISUAL"
    .split(" ");
const VARIABLE = "variable";

function homeOf({ home }: SettingsPlaces): string {
  return home ?? "/";
}

function variableSettings(env: SettingsPlaces["env"]): readonly GitSetting[] {
  const found: GitSetting[] = RUN_VARIABLES.flatMap((key) =>
    env[key] ? [{ section: VARIABLE, subsection: null, key, value: env[key] }] : []
  );
  const value = env["GIT_TEMPLATE_DIR"];
  if (value) found.push({ section: "init", subsection: null, key: "templatedir", value });
  return found;
}

class Stamps {
  readonly #stamps: ReadonlyMap<string, string | null>;

  constructor(paths: Iterable<string>, since: number) {
    this.#stamps = new Map(Array.from(paths, (path) => [path, keptStampOf(path, since)]));
  }

  get isCurrent(): boolean {
    return this.#stamps.entries().every(([path, stamp]) => stampOf(path) === stamp);
  }
}

function namedSettings(places: SettingsPlaces): readonly string[] {
  const { env } = places;
  const named = [env["GIT_CONFIG_GLOBAL"], env["GIT_CONFIG_SYSTEM"], join(configFolder(places), "git/config")];
  return named.flatMap((path) => path?.startsWith("/") ? [path] : []);
}

function configFolder(places: SettingsPlaces): string {
  const named = places.env["XDG_CONFIG_HOME"] ?? "";
  return named.startsWith("/") ? named : join(homeOf(places), ".config");
}

export class ClaimCache {
  readonly #places: SettingsPlaces;
  readonly #withMissing: boolean;
  readonly #indexes = new GitIndexes();
  readonly #known = new BoundedMap<
    string,
    Pick<Claims, "claims" | "others"> & { readonly from: Stamps; readonly user: UserSettings }
  >(MOST_KNOWN);
  #user: Promise<UserSettings> | null = null;

  constructor(places: SettingsPlaces, { withMissing = false }: { readonly withMissing?: boolean } = {}) {
    this.#places = places;
    this.#withMissing = withMissing;
  }

  async all(tops: Iterable<string>, { within }: { readonly within: string }): Promise<readonly Claim[]> {
    if (!(await this.#user)?.from.isCurrent) this.#user = userSettings(this.#places);
    const user = await (this.#user ??= userSettings(this.#places));
    const vis = join(within, VIS);
    const found = [
      ...(await this.#get(vis, user, () => visClaims(vis))).claims,
      ...(await this.#get(user.home, user, () => homeClaims(this.#places))).claims,
    ];
    const open = new Set(tops), pace = new Pace();
    const options = { user, indexes: this.#indexes, withMissing: this.#withMissing, pace };
    for (const top of open) {
      if (pace.due) await pace.rest();
      const { claims, others } = await this.#get(join(top, GIT), user, () => repositoryClaims(top, options));
      for (const claim of claims) found.push(claim);
      for (const other of others) if (isBelow(other, within)) open.add(other);
      if (found.length <= MOST_CLAIMS) continue;
      throw new Error(
        `Cannot run commands: the settings of git in ${counted(open.size, "repository")} name ${found.length} paths, ` +
          `more than the limit of ${MOST_CLAIMS}; start Vis in a folder with fewer repositories`,
      );
    }
    return found;
  }

  async #get(
    key: string,
    user: UserSettings,
    make: () => Claims | Promise<Claims>,
  ): Promise<Pick<Claims, "claims" | "others">> {
    const known = this.#known.get(key);
    if (known?.user === user && known.from.isCurrent) return known;
    const since = Date.now(), { claims, others, from } = await make();
    const made = { claims, others, from: new Stamps(from, since), user };
    this.#known.set(key, made);
    return made;
  }
}

function homeClaims(places: SettingsPlaces): Claims {
  const home = homeOf(places), { visHome, database } = places;
  const config = configFolder(places);
  const folders = new Set([".config", ".config/git", ".ssh"].map((name) => join(home, name)));
  for (const path of [config, `${config}/git`, ...visHome ? [visHome] : []]) folders.add(path);
  const claims: Claim[] = [];
  const link = (path: string): void => {
    if (entryKind(path) === "link") claims.push({ path, as: "part", reason: `${path} leads to` });
  };
  for (const { name } of folderEntries(home, { most: MOST_WORDS, wanted: (first) => first === 46 })) {
    if (name.startsWith(".")) link(join(home, name));
  }
  for (const folder of folders) claims.push(...linksIn(folder, { depth: 1, by: "the user's settings have" }));
  for (const path of namedSettings(places)) {
    claims.push({ path, as: "file", reason: "git reads by a variable of the environment" });
  }
  for (const path of databaseFiles(database)) {
    claims.push({ path, as: "file", reason: "Vis uses as its database" });
  }
  return { claims, from: [home, ...folders], others: [] };
}

/** SQLite obeys a journal beside the database, so the files count even if they do not exist. */
export function databaseFiles(path: string | null = null): readonly string[] {
  if (!path) return [];
  const real = realPathOf(path) ?? path;
  return [...new Set([path, ...["", "-wal", "-shm", "-journal"].map((end) => `${real}${end}`)])];
}

function visClaims(folder: string): Claims {
  const claims = [...linksIn(folder, { depth: VIS_DEPTH, by: "Vis reads" })];
  return { claims, from: [folder, ...foldersIn(folder, VIS_DEPTH - 1)], others: [] };
}

async function repositoryClaims(
  top: string,
  { user, indexes, withMissing, pace }: {
    readonly user: UserSettings;
    readonly indexes: GitIndexes;
    readonly withMissing: boolean;
    readonly pace: Pace;
  },
): Promise<Claims> {
  const dot = join(top, GIT);
  const claims: Claim[] = [{ path: dot, as: "part", reason: "git reads" }], from = new Set([dot, join(top, "HEAD")]);
  const folders = await repositoryFolders(top);
  if (folders === null) {
    const named = await namedGitFolder(top);
    if (named !== null && named !== dot) {
      claims.push({ path: named, as: "folder", reason: "git reads" });
      for (const name of ["", "HEAD"]) from.add(join(named, name));
    }
    return { claims, from, others: [] };
  }
  const { gitDir, commonDir, named } = folders;
  for (const path of named) claims.push({ path, as: "part", reason: "git reads" });
  for (const folder of new Set([gitDir, commonDir])) {
    const hooks = join(folder, "hooks");
    for (const name of IN_GIT) {
      const path = join(folder, name);
      if (entryKind(path) !== "link") continue;
      const by = name === "hooks" ? "git runs" : "git reads";
      claims.push({ path, as: "part", reason: `${by} by the link ${withoutTop(path, top)}` });
    }
    claims.push(...linksIn(hooks, { depth: 1, by: "git runs", top }));
    for (const name of ["", "HEAD", "commondir", "info", "hooks", "index"]) from.add(join(folder, name));
  }
  const { settings, files, included } = await ownSettings(folders, user.home);
  for (const path of [...files, ...included, join(commonDir, "modules")]) from.add(path);
  for (const path of [...included, ...user.included]) {
    claims.push({ path, as: "file", reason: "git reads by the setting include.path" });
  }
  for (const path of await alternates(join(commonDir, "objects"), from)) {
    claims.push({ path, as: "folder", reason: "git reads as an alternate" });
  }
  const modules = await submodules(join(commonDir, "modules")), remotes: string[] = [];
  const all = [...settings, ...user.settings], trees = [top, ...otherTree(settings, { top, gitDir })];
  for (const tree of trees) {
    const isThere = withMissing ? () => true : presence({ top: tree, from });
    for (const claim of claimsOf(all, { top: tree, home: user.home, gitDir, modules })) {
      if (pace.due) await pace.rest();
      if (!isThere(claim)) continue;
      claims.push(claim);
      if (claim.as === "folder") {
        claims.push(...linksIn(claim.path, { depth: 1, by: "git runs", top }));
        from.add(claim.path);
      }
    }
    remotes.push(...remotesOf(all, { top: tree, home: user.home }));
  }
  const others: string[] = [];
  for (const path of remotes) {
    if (entryKind(path) === null) claims.push({ path, as: "folder", reason: "git reads as a remote" });
  }
  for (const path of [...modules, ...remotes]) {
    const real = realPathOf(path);
    others.push(real ?? resolve(path));
    if (real !== path) claims.push({ path: `${path}/${GIT}`, as: "part", reason: "git reads" });
  }
  if (gitDir !== top) {
    const sha256 = isSha256(settings);
    for (const name of (await indexes.read(join(gitDir, "index"), { sha256 })).submodules) {
      for (const tree of trees) {
        claims.push({ path: join(tree, name, GIT), as: "folder", reason: "git reads as a submodule" });
      }
    }
  }
  const odd = claims.find(({ path, as }) => as !== "word" && path.includes("\ufffd"));
  if (odd !== undefined && !withMissing) {
    throw new Error(
      `Cannot run commands: ${odd.path}, which ${odd.reason}, has a name that is not UTF-8, so Vis cannot ` +
        "protect it; rename it, or change the setting that names it",
    );
  }
  return { claims, from, others };
}

const MOST_ALTERNATES = 100;

/** Git also takes objects from these folders. */
async function alternates(objects: string, from: Set<string>): Promise<readonly string[]> {
  const open = [objects];
  for (const folder of open) {
    const list = join(folder, "info/alternates");
    from.add(list);
    for (const line of (await smallTextFile(list) ?? "").split("\n")) {
      // Unlike the kernel, git takes `..` out of this text before it follows links.
      const path = resolve(folder, unquoted(line));
      if (line !== "" && !line.startsWith("#") && !open.includes(path)) open.push(path);
    }
    if (open.length > MOST_ALTERNATES) break;
  }
  return open.slice(1);
}

const ESCAPES = new Map([["a", "\x07"], ["b", "\b"], ["f", "\f"], ["n", "\n"], ["r", "\r"], ["t", "\t"], ["v", "\v"]]);

function unquoted(line: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  return inner?.replace(
    /((?:\\[0-3][0-7]{2})+)|\\(.)/g,
    (_, bytes: string | undefined, code = "") =>
      bytes === undefined
        ? ESCAPES.get(code) ?? code
        : new TextDecoder().decode(Uint8Array.from(bytes.slice(1).split("\\"), (byte) => parseInt(byte, 8))),
  ) ?? line;
}

function otherTree(
  settings: readonly GitSetting[],
  { top, gitDir }: Readonly<Record<"top" | "gitDir", string>>,
): readonly string[] {
  const tree = treeOf(settings, gitDir), real = tree === null ? null : realPathOf(tree);
  return real === null || real === realPathOf(top) ? [] : [real];
}

function treeOf(settings: readonly GitSetting[], gitDir: string): string | null {
  const tree = settings.findLast(({ section, key }) => section === "core" && key === "worktree")?.value;
  return tree === undefined ? null : joinUnresolved(gitDir, tree);
}

/** A word of a setting need not name an entry, so this test excludes words without an entry inside `top`. */
function presence({ top, from }: { readonly top: string; readonly from: Set<string> }): (claim: Claim) => boolean {
  const known = new Map<string, (path: string) => boolean>();
  return ({ path, as }) => {
    if (as !== "word" && as !== "near" || !isWithin(path, top) || path.includes("/../")) return true;
    if (path === top) return false;
    const folder = dirname(path), has = known.get(folder) ?? presentIn(folder);
    known.set(folder, has);
    from.add(folder);
    return has(as === "near" ? "" : path);
  };
}

function presentIn(folder: string): (path: string) => boolean {
  if (!existsSync(folder)) return () => false;
  const names = new Set<string>();
  for (const { name } of folderEntries(folder, { most: MOST_LISTED, wanted: () => true })) names.add(plainName(name));
  const isWhole = names.size > 0 && names.size < MOST_LISTED; // An unreadable folder seems empty.
  return (path) => path === "" || (isWhole ? names.has(plainName(basename(path))) : entryKind(path) !== null);
}

function remotesOf(
  settings: readonly GitSetting[],
  { top, home }: Readonly<Record<"top" | "home", string>>,
): readonly string[] {
  const names = new Set(settings.flatMap(({ section, subsection }) => section === "remote" ? [subsection] : []));
  const urls = settings.flatMap(({ section, key, value }) => {
    if (section === "remote" && ["url", "pushurl"].includes(key)) return [value];
    const isNamed = section === "branch"
      ? ["remote", "pushremote"].includes(key)
      : section === "remote" && key === "pushdefault";
    return isNamed && value.includes("/") && !names.has(value) ? [value] : [];
  });
  const others = settings.flatMap(({ section, subsection, key, value }) =>
    section === "url" && ["insteadof", "pushinsteadof"].includes(key)
      ? urls.flatMap((url) => url.startsWith(value) ? [`${subsection}${url.slice(value.length)}`] : [])
      : []
  );
  return [...new Set([...urls, ...others])].flatMap((url) => {
    const path = url.replace(/^file:\/\/(?=\/)/, "");
    return /^[^/]*:/.test(path) ? [] : [joinUnresolved(top, untilde(path, home))];
  });
}

/** Git runs a program, or reads other files, by these settings. */
const RUNS =
  /^(?:core\.(?:hookspath|fsmonitor|gitproxy|askpass|worktree|attributesfile)|(?:alias|pager|include|includeif|variable)\..*|.*\.(?:\w*command|\w*cmd|program|helper|driver|clean|smudge|process|textconv|external|editor|pager|vcs|uploadpack|receivepack|update|\w+hook|difffilter|path|args|tunnel|smtpserver|httpd|browser|templatedir))$/;
/** After an interpreter, the next word is a file of code, unless an option gives code. */
const INTERPRETER =
  /^(?:.*\/)?(?:sh|bash|dash|ash|zsh|ksh|fish|python[\d.]*|node|deno|bun|perl|ruby|php|lua|awk|source|\.)$/;
/** After one of these words, the next word is the folder of later words. */
const ENTERS = /^(?:cd|pushd|-C|--prefix|--cwd)$/;
/** In a script, a text that matches may be the top of the repository, such as `$(git rev-parse --show-toplevel)`. */
const TOP = /\$\{?(?:PWD|GIT_WORK_TREE|GIT_PREFIX)\}?|\$\([^()]*\)|`[^`]*`/g;

/** Vis does not interpret code, so it misses a path that a shell composes. */
function* claimsOf(
  settings: readonly GitSetting[],
  { top, home, gitDir = top, modules = [] }: Readonly<Record<"top" | "home", string>> & {
    readonly gitDir?: string;
    readonly modules?: readonly string[];
  },
): Generator<Claim> {
  let words = 0;
  const at = (word: string): string => joinUnresolved(top, untilde(word, home));
  for (const one of settings) {
    // From git 2.52 on, a path may have this prefix; the address of a remote may be a command.
    const value = one.value.replace(/^(?::\(optional\)|ext::)/, "");
    const setting = nameOf(one), small = setting.toLowerCase();
    const runs = RUNS.test(small) && (one.section !== "alias" || value.startsWith("!")) ||
      one.value.startsWith("ext::");
    const by = one.section === VARIABLE ? `the variable ${one.key}` : `the setting ${setting}`;
    // Vis does not know which other settings name files, such as those of an extension of git.
    const reason = runs ? `git runs by ${by}` : `${by} of git names`;
    const [, refs] = small === "extensions.refstorage" ? /^\w+:\/\/(.+)$/.exec(value) ?? [] : [];
    if (refs !== undefined) {
      yield { path: joinUnresolved(gitDir, refs), as: "folder", reason: `git reads by ${by}` };
      continue;
    }
    if (small === "core.hookspath" || small === "init.templatedir") {
      const folder = at(value), parent = dirname(folder);
      // The hooks of Husky in `.husky/_` run the files in `.husky`.
      const path = basename(folder) === "_" && parent !== top ? parent : folder;
      const named = small === "core.hookspath" ? "core.hooksPath" : "init.templateDir";
      yield { path, as: "folder", reason: `git runs by the setting ${named}`, runs };
      // After a push to this repository, git runs its hooks in the folder of the repository, so the path is relative to
      // that folder.
      const pushed = joinUnresolved(gitDir, untilde(value, home));
      if (pushed !== folder && !isWithin(resolve(pushed), gitDir)) {
        yield { path: pushed, as: "folder", reason: `git runs by the setting ${named}`, runs };
      }
      continue;
    }
    // The command that updates a submodule runs in the submodule.
    const folders = one.section === "submodule" && one.key === "update" ? [top, ...modules] : [top];
    for (const { word, as } of runs ? wordsThatRun(value, home) : plainWords(value)) {
      if (++words > MOST_WORDS) throw new Error(tooMany(top));
      for (const folder of folders) yield { path: joinUnresolved(folder, untilde(word, home)), as, reason, runs };
    }
  }
}

function tooMany(top: string): string {
  return `Cannot run commands: the settings of git for ${top} have more than ${MOST_WORDS} words, the limit; ` +
    "shorten them";
}

interface Word {
  readonly word: string;
  readonly as: Claim["as"];
}

function plainWords(value: string): readonly Word[] {
  return value.split(/[\s'"`;&|()<>=,!]+/).filter((word) => word !== "").map((word) => ({ word, as: "word" }));
}

function wordsThatRun(value: string, home: string): Iterable<Word> {
  const found = new Map<string, Word["as"]>();
  const take = (word: string, as: Word["as"]): void => {
    if (word !== "" && (as !== "word" || !found.has(word))) found.set(word, as);
  };
  let text = value.replace(/\$\{?HOME\}?/g, home);
  for (let before = ""; before !== text;) [before, text] = [text, text.replace(TOP, ".")];
  // A blank may be a part of a path in quotes, or follow a backslash.
  for (const quoted of text.matchAll(/"([^"]*)"|'([^']*)'/g)) {
    for (const part of quoted.slice(1)) take(part ?? "", "word");
  }
  for (const part of text.split('"')) take(part, "word");
  for (const part of text.split("'")) take(part, "word");
  take(text.replace(/^!/, ""), "word");
  const escaped = text.replace(/\\ /g, "\0");
  takeWords(escaped.split(/[\s'"`;&|()<>=,!{}$\\:]+/), take);
  // Characters that usually separate words can be parts of names, and a name can be partly in quotes.
  const takeOdd = (word: string, as: Word["as"]): void => take(word, /[=,!{}$:]/.test(word) ? "word" : as);
  const plain = escaped.replace(/\\(.)/g, "$1").replace(/^!/, "");
  takeWords(plain.split(/[\s'"`;&|()<>]+/), takeOdd);
  takeWords(plain.replace(/['"]/g, "").split(/[\s`;&|()<>]+/), takeOdd);
  return [...found].map(([word, as]) => ({ word, as }));
}

function takeWords(parts: readonly string[], take: (word: string, as: Word["as"]) => void): void {
  const [first = "", ...rest] = parts.filter((word) => word !== "").map((word) => word.replaceAll("\0", " "));
  let isCode = INTERPRETER.test(first), isFolder = ENTERS.test(first), base = "";
  take(first, first.includes("/") ? "file" : "word");
  for (const word of rest) {
    if (base !== "") take(`${base}/${word}`, "word");
    if (isFolder) base = word;
    isFolder = ENTERS.test(word);
    const isPath = /^(?:\.{1,2}|~)?\/./.test(word), isOption = word.startsWith("-");
    take(word, isPath || isCode && !isOption ? "file" : word.includes("/") ? "near" : "word");
    // A path may follow an option or another beginning: `-x./tool`, `$TOOLS/tool`, `-Ftool`.
    const inner = word.slice(1).search(/\.{0,2}\//) + 1;
    if (inner > 0) take(word.slice(inner), "word");
    if (isOption) take(word.slice(2), "word");
    if (word.startsWith("/")) take(word.slice(1), "word");
    isCode = INTERPRETER.test(word) || isCode && isOption && !/^-\w*[ce]/.test(word);
  }
}

function nameOf({ section, subsection, key }: GitSetting): string {
  return [section, ...subsection === null ? [] : [subsection], key].join(".");
}

const TODO_LISTS = ["rebase-merge/git-rebase-todo", "sequencer/todo"];

/** A key names a file or setting that git runs or obeys. The value is a stamp of the file, or "" if the key itself has
 * the text. */
export async function obeyedIn(workspace: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const folders = await repositoryFolders(workspace);
  const below = folders === null ? [] : await submodules(join(folders.commonDir, "modules"));
  for (const top of new Set([workspace, ...below])) {
    const place = top === workspace ? "" : `in ${withoutTop(top, workspace)}: `;
    for (const [what, stamp] of await obeyedAt(top)) found.set(place + what, stamp);
  }
  return found;
}

async function obeyedAt(top: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const repository = await repositoryFolders(top);
  if (repository === null) return found;
  const { gitDir, commonDir } = repository;
  const { files, settings, included } = await ownSettings(repository, "/");
  for (const path of included) found.set(`settings in ${path}`, "");
  // If a file is too large to read, only its stamp shows a change.
  for (const path of files) if (existsSync(path) && await smallTextFile(path) === null) found.set(path, stampOf(path));
  for (const one of settings) {
    const name = nameOf(one);
    if (RUNS.test(name.toLowerCase())) found.set(`${name} = ${one.value}`, "");
  }
  const hooks = [join(commonDir, "hooks")];
  for (const { path, as } of claimsOf(settings, { top, home: "/" })) {
    if (as === "folder") hooks.push(path);
    else if (as === "file" || isFile(path)) found.set(path, stampOf(path));
  }
  for (const folder of hooks) {
    const real = realPathOf(folder);
    if (real === null) continue;
    for (const { name } of folderEntries(real, { most: MOST_LINKS, wanted: () => true })) {
      if (!name.endsWith(".sample")) found.set(`hook ${name}`, `${real} ${stampOf(join(real, name))}`);
    }
  }
  for (const name of TODO_LISTS) {
    for (const line of (await smallTextFile(join(gitDir, name)) ?? "").split("\n")) {
      if (/^\s*(?:exec|x)\s/.test(line)) found.set(`${name}: ${line.trim()}`, "");
    }
  }
  return found;
}

function* linksIn(
  folder: string,
  { depth, by, top = dirname(folder) }: { readonly depth: number; readonly by: string; readonly top?: string },
): Generator<Claim> {
  const real = realPathOf(folder);
  if (real === null) return;
  for (const { name, isFolder } of folderEntries(real, { most: MOST_LINKS, wanted: () => true })) {
    const path = join(real, name);
    if (isFolder && depth > 1) yield* linksIn(path, { depth: depth - 1, by, top });
    else if (!isFolder && entryKind(path) === "link") {
      yield { path, as: "part", reason: `${by} by the link ${withoutTop(path, top)}` };
    }
  }
}

function foldersIn(folder: string, depth: number): readonly string[] {
  const inner = [...folderEntries(folder, { most: MOST_LINKS, wanted: () => false })].map(({ name }) =>
    join(folder, name)
  );
  return depth > 1 ? [...inner, ...inner.flatMap((one) => foldersIn(one, depth - 1))] : inner;
}

function withoutTop(path: string, top: string): string {
  return path.startsWith(`${top}/`) ? path.slice(top.length + 1) : path;
}

async function submodules(modules: string): Promise<readonly string[]> {
  const found: string[] = [], open = [{ folder: modules, depth: 0 }], pace = new Pace();
  for (const [at, { folder, depth }] of open.entries()) {
    if (found.length >= MOST_MODULES || depth > MODULES_DEPTH || at >= MOST_VISITED) break;
    if (pace.due) await pace.rest();
    const entries = [...folderEntries(folder, { most: MOST_MODULES, wanted: (first) => first === 99 })]; // 99 is "c".
    if (entries.some(({ name, isFolder }) => name === "config" && !isFolder)) {
      const { settings } = await everyGitSetting([join(folder, "config")], "/");
      const tree = treeOf(settings, folder);
      if (tree !== null) found.push(tree);
      open.push({ folder: join(folder, "modules"), depth: depth + 1 });
    } else {
      for (const { name, isFolder } of entries) {
        if (isFolder) open.push({ folder: join(folder, name), depth: depth + 1 });
      }
    }
  }
  return found;
}
