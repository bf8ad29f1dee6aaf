import { homedir } from "node:os";
import { join, resolve } from "node:path";
import {
  advised,
  clip,
  counted,
  ensureFolder,
  type EnvironmentView,
  type GitSetting,
  isSha256,
  isWithin,
  smallTextFile,
  someOf,
  userGitSettings,
} from "@vis/extension";
import { Git, type GitOptions, type GitResult, hooksOf, plainReason, spawnOf } from "./git.ts";
import { RecordReader } from "./git_output.ts";
import { checkedRef, commitHash, currentBranch, missingRef, nameOf } from "./refs_and_paths.ts";
import { MOST_SCOPE } from "./repository.ts";

export interface PushOptions {
  readonly remote?: string;
  readonly to?: string;
  readonly force?: boolean;
}

export interface FetchOptions {
  readonly remote?: string;
  readonly prune?: boolean;
}

interface Pushed {
  readonly remote: string;
  readonly url: string;
  readonly branch: string;
  readonly commit: string;
  /** Number of commits that no tracking branch of the remote had before the push. */
  readonly commits: number;
  readonly was: string | null;
  readonly upstream?: string;
  readonly said?: readonly string[];
  readonly skippedHooks?: readonly string[];
}

interface Fetched {
  readonly remote: string;
  readonly url: string;
  readonly changed: readonly { readonly ref: string; readonly was: string | null; readonly now: string | null }[];
  readonly left: number;
  readonly next?: string;
}

interface Remote {
  readonly name: string;
  readonly url: string;
  /** The address without passwords, and for http and https without the user. */
  readonly shown: string;
}

const MAIN = "default";
const TIMEOUT_MS = 10 * 60_000;
const MAX_BYTES = 1 << 20;
const MOST_SHOWN = 5, MOST_SAID = 20, MOST_CHANGED = 200;
const HASH = /^[0-9a-f]{40,64}$/;
/** Git reaches a remote in a folder by running programs of its repository. */
const ADDRESS = /^(?:(?:https?|ssh):\/\/[^\s"\\/-][^\s"\\]*|[^\s"\\/:-][^\s"\\/:]+:(?!:|\/\/)[^\s"\\]+)$/;

export async function push(
  env: EnvironmentView,
  name?: string,
  { remote: named, to, force = false }: PushOptions = {},
): Promise<Pushed> {
  const git = await Git.of(env, ["push", name ?? {}, { remote: named, to, force }]);
  const head = await currentBranch(git);
  const branch = checkedRef(name ?? (head || "HEAD"));
  const cannot = `Cannot push ${branch}`;
  const kind = await kindOf(git, branch);
  if (kind === null) {
    if (name === undefined) {
      const why = head === "" ? "no branch is checked out" : `the branch ${head} has no commit`;
      throw advised(new Error(`Cannot push: ${why}`), "name a branch or a tag");
    }
    throw await missingRef(git, { cannot, name: branch, kind: "branch" });
  }
  const full = `refs/${kind}/${branch}`;
  const peeled = await commitHash(git, full, cannot);
  const commit = kind === "heads" ? peeled : (await git.run(["rev-parse", "--verify", full])).stdout.trim();
  const remote = await remoteOf(git, { named, branch, cannot, pushes: true });
  await refuseShared(git, cannot);
  const target = checkedRef(to ?? branch), ref = `refs/${kind}/${target}`;
  if ((await git.run(["check-ref-format", ref])).code !== 0) {
    throw new TypeError(`${cannot}: ${JSON.stringify(clip(target, 100))} is not a valid name of a branch or tag`);
  }
  const tracked = (await refsOf(git)).filter((one) => one.ref.startsWith(`refs/remotes/${remote.name}/`));
  const tracking = `refs/remotes/${remote.name}/${target}`;
  const was = kind === "tags" ? null : tracked.find((one) => one.ref === tracking)?.hash ?? null;
  const shown = await outgoing(git, { commit, known: hashes(tracked), cannot });
  const lost = force && was !== null ? await outgoing(git, { commit: was, known: [commit], cannot }) : null;
  const { names: hooks } = await hooksOf(git, ["pre-push"]);
  const branches = branch === target ? branch : `${branch}:${target}`;
  const removes = lost === null || lost.commits === 0 ? "" : `, and remove ${counted(lost.commits, "commit")} there`;
  await git.mayChange();
  await askFor(env, {
    cannot,
    what: kind === "tags"
      ? `push the tag ${branch} with ${counted(shown.commits, "new commit")} to ${remote.name}`
      : `push ${counted(shown.commits, "new commit")} of ${branch} to ${
        branch === target ? "" : `${target} of `
      }${remote.name}${removes}`,
    exact: `git push ${force ? "--force-with-lease " : ""}${remote.shown} ${branches}`,
    why: [
      ...listed("The new commits are", shown),
      ...lost === null ? [] : listed("The removed commits are", lost),
      ...shown.secrets.length > 0 ? [`They contain files that may have keys: ${someOf(shown.secrets)}.`] : [],
      KEYS,
    ].join(" "),
    scope: `git push of ${kind === "tags" ? "the tag " : ""}${branches} to ${remote.shown}`,
    lasting: !force && shown.secrets.length === 0,
  });
  const lease = force ? [`--force-with-lease=${ref}:${was ?? ""}`] : [];
  const { code, stdout, stderr } = await withMirror(git, remote, { cannot, refs: [] }, async ({ run, refs }) => {
    const there = hashes(await refs(["ls-remote", "--refs", "--", "vis"]));
    const unnamed = async (): Promise<number> => {
      const lacking = async (known: readonly string[]): Promise<number> => {
        const input = revisions(commit, known);
        const { code, stdout, stderr } = await run(["rev-list", "--count", "--ignore-missing", "--stdin"], { input });
        if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
        return Number(stdout);
      };
      return await lacking(there) - await lacking([...there, ...hashes(tracked)]);
    };
    let count = await unnamed();
    // Without the remote's newest commits, git does not know which older commits the remote has.
    if (count > 0) {
      const fetched = await run(["fetch", ...FETCH, "--", "vis", "+refs/heads/*:refs/vis/*"]);
      if (fetched.code !== 0) throw unreachable(cannot, remote, fetched.stderr);
      count = await unnamed();
    }
    if (count > 0) {
      throw advised(
        new Error(`${cannot}: ${remote.name} lacks ${counted(count, "more commit")} than the question named`),
        "call git.fetch({prune: true}) first",
      );
    }
    return await run([
      "push",
      "--porcelain",
      "--no-verify",
      "--no-follow-tags",
      ...lease,
      "--",
      "vis",
      `${commit}:${ref}`,
    ]);
  });
  const said = remoteLines(stderr);
  if (code !== 0) throw refused({ cannot, remote, target, stdout, stderr });
  if (kind === "heads") await git.run(["update-ref", "--no-deref", tracking, commit], { changes: "repository" });
  const upstream = kind === "heads" && await setUpstream(git, { branch, remote: remote.name, ref });
  return {
    remote: remote.name,
    url: remote.shown,
    branch: target,
    commit,
    commits: shown.commits,
    was,
    ...(upstream ? { upstream: `${remote.name}/${target}` } : {}),
    ...(said.length > 0 ? { said } : {}),
    ...(hooks.length > 0 ? { skippedHooks: hooks } : {}),
  };
}

export async function fetchRemote(
  env: EnvironmentView,
  { remote: named, prune = false }: FetchOptions = {},
): Promise<Fetched> {
  const git = await Git.of(env, ["fetch", { remote: named, prune }]);
  const head = await currentBranch(git);
  const remote = await remoteOf(git, { named, branch: head, cannot: "Cannot fetch", pushes: false });
  const cannot = `Cannot fetch from ${remote.name}`;
  await refuseShared(git, cannot);
  await git.mayChange();
  await askFor(env, {
    cannot,
    what: `fetch from ${remote.name}`,
    exact: `git fetch ${remote.shown}`,
    why: KEYS,
    scope: `git fetch from ${remote.shown}`,
    lasting: true,
  });
  const before = await refsOf(git);
  const specs = git.settings.filter(({ section, subsection, key }) =>
    section === "remote" && subsection === remote.name && key === "fetch"
  ).map(({ value }) => value).filter((spec) => isOwnSpec(spec, remote.name));
  const all = `+refs/heads/*:refs/remotes/${remote.name}/*`;
  const after = await withMirror(git, remote, { cannot, refs: before }, async ({ run, folder, refs }) => {
    const flags = [...FETCH, ...prune ? ["--prune"] : []];
    const { code, stderr } = await run(["fetch", ...flags, "--", "vis", ...specs.length > 0 ? specs : [all]]);
    if (code !== 0) throw unreachable(cannot, remote, stderr);
    const packs = join(folder, "objects/pack");
    for await (const { name } of Deno.readDir(packs)) {
      if (!name.endsWith(".pack")) continue;
      const input = (await Deno.open(join(packs, name))).readable;
      const stored = await git.run(["index-pack", "--stdin", "--fix-thin"], { changes: "repository", input });
      if (stored.code !== 0) throw new Error(`${cannot}: ${plainReason(stored.stderr)}`);
    }
    return await refs(["for-each-ref", REF_FORMAT]);
  });
  const known = new Map(before.map(({ ref, hash }) => [ref, hash])),
    now = new Map(after.map(({ ref, hash }) => [ref, hash]));
  const own = [...new Set([...known.keys(), ...now.keys()])].filter((ref) =>
    (ref.startsWith(`refs/remotes/${remote.name}/`) || ref.startsWith("refs/tags/")) &&
    known.get(ref) !== now.get(ref) && ref !== `refs/remotes/${remote.name}/HEAD`
  );
  const none = "0".repeat(isSha256(git.settings) ? 64 : 40);
  // A new name such as a/b needs the removal of the name a first.
  for (const removes of [true, false]) {
    const lines = own.flatMap((ref) => {
      const [is, to] = [known.get(ref) ?? none, now.get(ref)];
      if ((to === undefined) !== removes) return [];
      return [`option no-deref\n${to === undefined ? `delete ${ref} ${is}` : `update ${ref} ${to} ${is}`}\n`];
    });
    if (lines.length === 0) continue;
    const { code, stderr } = await git.run(["update-ref", "--stdin"], { changes: "repository", input: lines.join("") });
    if (code !== 0) throw advised(new Error(`${cannot}: ${plainReason(stderr)}`), "call git.fetch() again");
  }
  const changed = own.map((ref) => ({
    ref: ref.replace(/^refs\/(?:remotes|tags)\//, ""),
    was: known.get(ref) ?? null,
    now: now.get(ref) ?? null,
  }));
  const counterpart = changed.find(({ ref, now }) => now !== null && ref === `${remote.name}/${head}`);
  return {
    remote: remote.name,
    url: remote.shown,
    changed: changed.slice(0, MOST_CHANGED),
    left: Math.max(0, changed.length - MOST_CHANGED),
    ...(counterpart ? { next: `git.merge("${counterpart.ref}") or git.rebase("${counterpart.ref}")` } : {}),
  };
}

const KEYS = "git uses your own settings, keys and passwords, and runs no hook.";

export async function askFor(
  { approve }: EnvironmentView,
  { cannot, program = "git", ...request }: {
    readonly cannot: string;
    readonly lasting: boolean;
    readonly program?: "git" | "gh";
  } & Readonly<Record<"what" | "exact" | "why" | "scope", string>>,
): Promise<void> {
  const { scope, lasting } = request, isLong = scope.length > MOST_SCOPE;
  const asked = { ...request, scope: isLong ? "this call" : scope, lasting: lasting && !isLong };
  const { allowed = false, byUser = false, reason = "no user can answer here" } = await approve?.(asked) ?? {};
  if (allowed) return;
  const refused = new Error(`${cannot}: ${reason}`);
  throw byUser ? refused : advised(refused, `ask the user to run ${program}`);
}

async function kindOf(git: Git, name: string): Promise<"heads" | "tags" | null> {
  for (const kind of ["heads", "tags"] as const) {
    if ((await git.run(["show-ref", "--verify", "--quiet", `refs/${kind}/${name}`])).code === 0) return kind;
  }
  return null;
}

export async function remoteOf(
  git: Git,
  { named, branch, cannot, pushes }: {
    readonly named: string | undefined;
    readonly branch: string;
    readonly cannot: string;
    readonly pushes: boolean;
  },
): Promise<Remote> {
  const { settings, repository: { workspace } } = git;
  const value = (section: string, subsection: string | null, key: string): string | undefined =>
    settings.findLast((one) => one.section === section && one.subsection === subsection && one.key === key)?.value;
  const names = [
    ...new Set(settings.flatMap(({ section, subsection }) => section === "remote" && subsection ? [subsection] : [])),
  ];
  const [only = "origin"] = names.length === 1 ? names : [];
  const usual = (pushes ? value("branch", branch, "pushremote") ?? value("remote", null, "pushdefault") : undefined) ??
    value("branch", branch, "remote") ?? only;
  const name = checkedRef(named ?? usual);
  if (!names.includes(name)) {
    const known = names.length === 0 ? "no remote" : `only the remotes ${someOf(names)}, not ${name}`;
    throw advised(
      new Error(`${cannot}: the repository has ${known}`),
      `ask the user to run git remote add ${name} ADDRESS in ${workspace}`,
    );
  }
  const { stdout, stderr, code } = await git.run([
    "remote",
    "get-url",
    ...pushes ? ["--push"] : [],
    "--all",
    "--",
    name,
  ]);
  if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
  const [url = "", ...more] = stdout.trim().split("\n");
  // An address can contain a token as its user, or a password.
  const shown = url.replace(/^(https?:\/\/)[^/]*@/, "$1").replace(/^(ssh:\/\/[^/@:]*):[^/]*@/, "$1@");
  if (pushes && more.length > 0) {
    throw advised(new Error(`${cannot}: the remote ${name} has several addresses`), "ask the user to push");
  }
  if (!ADDRESS.test(url)) {
    throw advised(
      new Error(`${cannot}: the address of ${name} is ${shown}, and Vis reaches remotes by https, http or ssh only`),
      `ask the user to ${pushes ? "push" : "fetch"}`,
    );
  }
  await refuseHere(git, cannot);
  return { name, url, shown };
}

/** The user's git runs without the wall, so it must lead to no file that a command could have changed. */
export async function refuseHere(
  { env, repository: { commonDir, gitDir } }: Git,
  cannot: string,
  keys: readonly string[] = PROGRAM_KEYS,
): Promise<void> {
  const { tenant = MAIN } = env, top = env.root ?? env.workspace, home = homedir();
  if (tenant !== MAIN) throw new Error(`${cannot}: only the tenant ${MAIN} can use the keys of the user`);
  const real = (path: string): Promise<string> => Deno.realPath(path).catch(() => path);
  const leadsIn = async (text: string, base: string, left = 5): Promise<boolean> => {
    for (const word of text.split(/[\s"'=,;!|&()]+/)) {
      const fixed = word.replace(/[^/]*[*?[][^]*$/, "");
      if (base === home && !fixed.includes("/")) continue;
      const path = fixed.startsWith("~/") ? join(home, fixed.slice(2)) : resolve(base, fixed);
      if (fixed !== "" && (isWithin(path, top) || isWithin(await real(path), top))) return true;
    }
    const included = [...text.matchAll(/^[^\S\n]*include[\s="]+([^\s"]+)/gim)].map(([, name = ""]) =>
      name.startsWith("~/") ? join(home, name.slice(2)) : resolve(base, name)
    );
    for (const path of left > 0 ? included : []) {
      if (await leadsIn(await smallTextFile(path, { links: true }) ?? "", base, left - 1)) return true;
    }
    return false;
  };
  const settings = (await userGitSettings({ home, gitDir })).filter(({ key }) => keys.includes(key));
  const ssh = await smallTextFile(join(home, ".ssh/config"), { links: true }) ?? "";
  const causes = [
    [isWithin(await real(home), top), `the user's home folder is in ${top}`],
    [await leadsIn(ssh, join(home, ".ssh")), `~/.ssh/config names files in ${top}, which commands can change`],
    [
      await leadsIn(settings.map(({ value }) => value).join("\n"), home),
      `the user's settings of git name a program or file in ${top}`,
    ],
    [/^"|\n/.test(commonDir), "the path of .git begins with a quotation mark or has a line break"],
  ] as const;
  const cause = causes.find(([holds]) => holds)?.[1];
  if (cause !== undefined) throw advised(new Error(`${cannot}: ${cause}`), "ask the user to run git");
  await spawnOf(env)(["git", "--version"], { asUser: true, env: USER_ENVIRONMENT }); // Rejects if a setting forbids it.
}

const PROGRAM_KEYS: readonly string[] = ["sshcommand", "askpass", "gitproxy", "helper", "sslkey", "proxy"];

/** Through a link or an alternate, a push could send files of another folder. A command may have made a link while Vis
 * asked, so each run of git begins with this check. */
async function refuseShared({ repository: { commonDir } }: Git, cannot: string): Promise<void> {
  if (!await isShared(join(commonDir, "objects"))) return;
  const cause = "objects of the repository are links, or are in another repository";
  throw advised(new Error(`${cannot}: ${cause}`), "ask the user to run git");
}

async function isShared(folder: string, isInfo = false): Promise<boolean> {
  if ((await Deno.lstat(folder)).isSymlink) return true;
  for await (const { name, isSymlink, isDirectory } of Deno.readDir(folder)) {
    if (isSymlink || isInfo && name === "alternates") return true;
    if (isDirectory && await isShared(join(folder, name), name === "info")) return true;
  }
  return false;
}

interface Outgoing {
  readonly commits: number;
  readonly subjects: readonly string[];
  readonly secrets: readonly string[];
}

async function outgoing(
  git: Git,
  { commit, known, cannot }: { readonly commit: string; readonly known: readonly string[]; readonly cannot: string },
): Promise<Outgoing> {
  const input = revisions(commit, known);
  const env = { GIT_NO_REPLACE_OBJECTS: "1", GIT_GRAFT_FILE: "/dev/null" };
  const run = async (args: readonly string[], take?: (chunk: Uint8Array) => void): Promise<string> => {
    const options = { input, env, ...(take ? { take } : {}) };
    const { code, stdout, stderr } = await git.run([...args, "--ignore-missing", "--stdin"], options);
    if (code !== 0) throw new Error(`${cannot}: ${plainReason(stderr)}`);
    return stdout;
  };
  const commits = Number(await run(["rev-list", "--count"]));
  if (commits === 0) return { commits, subjects: [], secrets: [] };
  const newest = await run(["log", `--max-count=${MOST_SHOWN}`, "--no-show-signature", "--format=%h %s"]);
  const secrets = new Set<string>();
  const reader = new RecordReader((path) => {
    if (secrets.size < MOST_SHOWN && git.isSecret(nameOf(path))) secrets.add(nameOf(path));
  });
  const shape = ["--format=", "--name-only", "--diff-filter=d", "-m", "-O/dev/null", "--no-ext-diff", "--no-textconv"];
  await run(["-c", "log.diffMerges=separate", "log", ...shape, "--no-renames"], (chunk) => reader.push(chunk));
  reader.end();
  const subjects = newest.split("\n").filter((line) => line !== "").map((line) => clip(line, 80));
  return { commits, subjects, secrets: [...secrets] };
}

function revisions(commit: string, known: readonly string[]): string {
  return [commit, ...known.map((hash) => `^${hash}`)].map((line) => `${line}\n`).join("");
}

function listed(start: string, { commits, subjects }: Outgoing): readonly string[] {
  if (commits === 0) return [];
  const rest = commits > subjects.length ? ` and ${commits - subjects.length} more` : "";
  return [`${start} ${subjects.map((one) => `"${one}"`).join(", ")}${rest}.`];
}

function hashes(refs: readonly Ref[]): readonly string[] {
  return [...new Set(refs.map(({ hash }) => hash))];
}

interface Ref {
  readonly hash: string;
  readonly ref: string;
}

async function refsOf(git: Git): Promise<readonly Ref[]> {
  const refs: Ref[] = [];
  const reader = new RecordReader((line) => refs.push(...refOf(line)));
  const { code, stderr } = await git.run(["for-each-ref", REF_FORMAT, "refs/heads", "refs/remotes", "refs/tags"], {
    take: (chunk) => reader.push(chunk),
  });
  reader.end();
  if (code !== 0) throw new Error(`Cannot list the branches and tags: ${plainReason(stderr)}`);
  return refs;
}

const REF_FORMAT = "--format=%(if)%(symref)%(then)%(else)%(objectname) %(refname)%(end)";

function refOf(line: string): readonly Ref[] {
  const [hash = "", ref = ""] = line.split(" ");
  return HASH.test(hash) && /^refs\/[^\ufffd]+$/.test(ref) ? [{ hash, ref }] : [];
}

function isOwnSpec(spec: string, remote: string): boolean {
  const [from = "", to = "", ...more] = spec.replace(/^\+/, "").split(":");
  return more.length === 0 && from.startsWith("refs/heads/") && to.startsWith(`refs/remotes/${remote}/`);
}

interface Mirror {
  readonly folder: string;
  run(args: readonly string[], options?: Pick<GitOptions, "take"> & { readonly input?: string }): Promise<GitResult>;
  refs(args: readonly string[]): Promise<readonly Ref[]>;
}

/** Here, git has the network and the user's keys. No wall confines git, so git works in an empty repository, which
 * borrows the objects of the repository, but reads none of its settings and hooks. */
async function withMirror<T>(
  git: Git,
  remote: Remote,
  { cannot, refs }: { readonly cannot: string; readonly refs: readonly Ref[] },
  work: (mirror: Mirror) => Promise<T>,
): Promise<T> {
  const { env, repository: { commonDir, gitDir } } = git;
  const spawn = spawnOf(env), objects = join(commonDir, "objects"), folder = await mirrorFolder(env, cannot);
  try {
    const isSha = isSha256(git.settings);
    const users = (await userGitSettings({ home: homedir(), gitDir })).filter(({ section, key }) =>
      section === "core" && key === "sshcommand" || section === "url"
    );
    const settings: readonly GitSetting[] = [
      ...users,
      ...SETTINGS.map(([section, key, value]) => ({ section, subsection: null, key, value })),
      { section: "core", subsection: null, key: "repositoryFormatVersion", value: isSha ? "1" : "0" },
      ...isSha ? [{ section: "extensions", subsection: null, key: "objectFormat", value: "sha256" }] : [],
      { section: "remote", subsection: "vis", key: "url", value: remote.url },
    ];
    const shallow = (await smallTextFile(join(commonDir, "shallow")) ?? "").split("\n").filter((line) =>
      HASH.test(line)
    );
    const text: Readonly<Record<string, string>> = {
      HEAD: "ref: refs/heads/vis\n",
      config: settings.map(settingText).join(""),
      "objects/info/alternates": `${objects}\n`,
      ...shallow.length === 0 ? {} : { shallow: shallow.map((hash) => `${hash}\n`).join("") },
      "packed-refs": refs.map(({ hash, ref }) => `${hash} ${ref}\n`).join(""),
    };
    for (const name of ["objects/info", "objects/pack", "refs"]) {
      await Deno.mkdir(join(folder, name), { recursive: true });
    }
    for (const [name, content] of Object.entries(text)) await Deno.writeTextFile(join(folder, name), content);
    const run: Mirror["run"] = async (args, { take, ...given } = {}) => {
      const { code, signal, stdout, stderr, timedOut } = await spawn(
        ["git", `--git-dir=${folder}`, "--no-pager", ...args],
        {
          asUser: true,
          keep: [objects],
          onBegin: () => refuseShared(git, cannot),
          timeoutMs: TIMEOUT_MS,
          maxBytes: MAX_BYTES,
          env: USER_ENVIRONMENT,
          ...given,
          ...(take ? { onOutput: (output, bytes) => output === "stdout" ? take(bytes) : undefined } : {}),
        },
      );
      env.signal?.throwIfAborted();
      if (timedOut) {
        const why = `git ran longer than ${TIMEOUT_MS / 60_000} minutes, the limit`;
        throw advised(new Error(`${cannot}: ${why}`), "ask the user to run git");
      }
      return { code, stdout, stderr: signal === null ? stderr : `${stderr}${signal} ended git` };
    };
    const listRefs: Mirror["refs"] = async (args) => {
      const found: Ref[] = [];
      const reader = new RecordReader((line) => found.push(...refOf(line.replace("\t", " "))));
      const { code, stderr } = await run(args, { take: (chunk) => reader.push(chunk) });
      reader.end();
      if (code !== 0) throw unreachable(cannot, remote, stderr);
      return found;
    };
    return await work({ folder, run, refs: listRefs });
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

/** The command wall protects the folder of Vis. A killed process leaves its mirror there. */
export async function mirrorFolder({ home = null }: EnvironmentView, cannot: string): Promise<string> {
  if (home === null) {
    throw advised(
      new Error(`${cannot}: Vis has no home folder`),
      "ask the user to set VIS_HOME to a writable folder",
    );
  }
  const dir = join(home, "mirrors");
  await ensureFolder(dir);
  for await (const { name } of Deno.readDir(dir)) {
    const { mtime } = await Deno.lstat(join(dir, name)).catch(() => ({ mtime: null }));
    if (mtime === null || Date.now() - mtime.getTime() < LEFT_MS) continue;
    await Deno.remove(join(dir, name), { recursive: true }).catch(() => {});
  }
  return await Deno.makeTempDir({ dir });
}

const LEFT_MS = 86_400_000;

const FETCH = ["--quiet", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no"];

export const USER_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "https:http:ssh",
  GIT_NO_REPLACE_OBJECTS: "1",
  LC_ALL: "C.UTF-8",
};

const SETTINGS = [
  ["core", "bare", "true"],
  ["core", "hooksPath", "/dev/null"],
  // Without this setting, git runs git in the repository whose objects it borrows.
  ["core", "alternateRefsCommand", "true"],
  ["core", "fsmonitor", "false"],
  ["push", "gpgSign", "false"],
  ["push", "recurseSubmodules", "no"],
  ["fetch", "unpackLimit", "1"],
  ["transfer", "unpackLimit", "1"],
  ["gc", "auto", "0"],
  ["maintenance", "auto", "false"],
] as const;

/** Other users of the machine could read arguments, so settings with keys are in a file. */
export function settingText({ section, subsection, key, value }: GitSetting): string {
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  return `[${section}${subsection === null ? "" : ` ${quoted(subsection)}`}]\n\t${key} = ${quoted(value)}\n`;
}

async function setUpstream(
  git: Git,
  { branch, remote, ref }: Readonly<Record<"branch" | "remote" | "ref", string>>,
): Promise<boolean> {
  const isSet = git.settings.some(({ section, subsection, key }) =>
    section === "branch" && subsection === branch && key === "merge"
  );
  if (isSet) return false;
  for (const [key, value] of [["remote", remote], ["merge", ref]] as const) {
    const { code } = await git.run(["config", `branch.${branch}.${key}`, value], { changes: "settings" });
    if (code !== 0) return false; // Git fails, for example, in a linked worktree, whose settings are outside the workspace.
  }
  return true;
}

function remoteLines(stderr: string): readonly string[] {
  // deno-lint-ignore vis/no-message-parsing -- git marks the lines of the remote by a word only
  return stderr.split("\n").flatMap((line) => {
    const [, text = ""] = /^remote: ?(.*?)\s*$/.exec(line) ?? [];
    return text === "" ? [] : [clip(text, 300)];
  }).slice(0, MOST_SAID);
}

function refused(
  { cannot, remote, target, stdout, stderr }: {
    readonly cannot: string;
    readonly remote: Remote;
    readonly target: string;
    readonly stdout: string;
    readonly stderr: string;
  },
): Error {
  const [, why] = /^!\t[^\t]*\t(.*)$/m.exec(stdout) ?? [];
  if (why === undefined) return unreachable(cannot, remote, stderr);
  const said = remoteLines(stderr).join(", ");
  const error = new Error(`${cannot}: ${remote.name} answered ${why}${said === "" ? "" : ` (${clip(said, 600)})`}`);
  const at = `${remote.name}/${target}`;
  return why.startsWith("[rejected]")
    ? advised(error, `call git.fetch(), and then git.merge("${at}") or git.rebase("${at}")`)
    : error;
}

function unreachable(cannot: string, { url, shown, name }: Remote, stderr: string): Error {
  return advised(
    new Error(`${cannot}: ${plainReason(stderr).replaceAll(url, shown)}`),
    `ask the user to run git fetch ${name} in a terminal once`,
  );
}
