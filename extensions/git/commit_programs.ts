import { join } from "node:path";
import {
  advised,
  clip,
  counted,
  type FileChanges,
  isWithin,
  smallTextFile,
  someOf,
  withoutAdvice,
} from "@vis/extension";
import type { SigningArguments } from "./commit_signature.ts";
import { Git, type GitResult, type Hooks, hooksOf, plainReason } from "./git.ts";
import { HookGuard } from "./hook_guard.ts";

const MOST_OUTPUT = 2_000, MOST_TRACE = 16 << 20;
/** No commit takes as long. */
const OLD_MS = 3_600_000;

export interface Programs {
  readonly hooks: Hooks | null;
  readonly signs: boolean;
}

/** Rejects with Error unless the user allows the programs. */
export async function askForPrograms(git: Git, { hooks, signs }: Programs): Promise<void> {
  const { env, repository: { workspace: top, gitDir, commonDir } } = git;
  const folders = [top, gitDir, commonDir, ...env.readFolders ?? []];
  // A repository must not open a folder of the user for its programs.
  if (hooks?.isNamed && !folders.some((folder) => isWithin(hooks.folder, folder))) {
    throw advised(
      new Error(`Cannot commit: the repository's core.hooksPath is ${hooks.folder}, which is outside the repository`),
      "ask the user to add the folder with --add-dir, or pass {hooks: false}",
    );
  }
  if (signs) {
    const { refuseUnsafeKeys } = await import("./commit_signature.ts");
    await refuseUnsafeKeys(git);
  }
  const before = await contents(hooks);
  const { unwalled } = await env.programWalls?.() ?? {};
  const asks = unwalled?.mode === "ask";
  const names = hooks === null ? "" : `the ${hooks.names.length === 1 ? "hook" : "hooks"} ${hooks.names.join(", ")}`;
  const wall = unwalled ? `an incomplete command wall (${unwalled.reason})` : "the command wall";
  const { allowed = false, reason = "no user can answer here" } = await env.approve?.({
    what: [
      ...hooks === null ? [] : [`commit with ${names} of this repository`],
      ...signs ? ["sign the commit with your key"] : [],
    ].join(", and "),
    exact: git.callText,
    why: [
      ...hooks === null ? [] : [
        `The programs in ${hooks.folder} run behind ${wall}, and can change files of the workspace, the index and the history.`,
      ],
      ...signs ? ["git signs outside of the command wall, with the program and the key of your own settings."] : [],
    ].join(" "),
    scope: `${signs ? "signed " : ""}commits${hooks === null ? " without hooks" : ` with ${names}`}`,
    lasting: hooks === null || !asks,
  }) ?? {};
  if (!allowed) {
    const needed = [...hooks === null ? [] : [names], ...signs ? ["the signature"] : []];
    const ways = [
      ...hooks === null ? [] : ["{hooks: false} commits without hooks"],
      ...signs ? ["{sign: false} commits without a signature"] : [],
    ];
    throw advised(
      new Error(
        `Cannot commit: ${needed.join(" and ")} ${(hooks?.names.length ?? 1) === 1 ? "needs" : "need"} an approval, ` +
          `and ${reason}`,
      ),
      ways.join(", and "),
    );
  }
  if (hooks === null) return;
  git.allowed();
  const now = await hooksOf(git, hooks.looked);
  if (JSON.stringify([hooks, before]) !== JSON.stringify([now, await contents(now)])) {
    throw advised(new Error("Cannot commit: a hook changed before git ran it"), "call git.commit again");
  }
}

async function contents(hooks: Hooks | null): Promise<readonly (string | null)[]> {
  const { names = [], folder = "" } = hooks ?? {};
  return await Promise.all(names.map((name) => smallTextFile(join(folder, name), { links: true })));
}

interface Planned {
  readonly args: readonly string[];
  readonly paths: readonly string[];
  readonly message: string;
  readonly author: Readonly<Record<string, string>>;
}

type Ended = GitResult & { readonly changes?: FileChanges | null; readonly skipped?: readonly string[] };

export async function commitWithPrograms(git: Git, { hooks, signs }: Programs, planned: Planned): Promise<Ended> {
  const commit = async ({ settings = [], flags = ["--no-gpg-sign"], keep = [] }: Partial<SigningArguments> = {}) => {
    const args = [...settings, ...planned.args, ...flags];
    if (hooks !== null) return await commitWithHooks(git, hooks, { ...planned, args, keep });
    const { paths, message: input, author: env } = planned;
    return await git.run([...args, "--no-verify", "--", ...paths], { changes: "repository", input, env });
  };
  await removeLeft(git.repository.gitDir);
  if (!signs) return await commit();
  const { withSignature } = await import("./commit_signature.ts");
  const { author, args } = planned;
  return await withSignature(git, { author, amend: args.includes("--amend") }, commit);
}

/** Signs a new commit of git.merge, for example, by amending it. Vis signs one commit per call, so it signs none of
 * several. Returns false if a commit has no signature. */
export async function signNew(
  git: Git,
  { author, since, name }: Pick<Planned, "author"> & { readonly since: readonly string[]; readonly name: string },
): Promise<boolean | null> {
  const { stdout } = await git.run(["rev-list", "--header", "HEAD", ...since.map((hash) => `^${hash}`), "--"]);
  const made = stdout.split("\0").filter((text) => text !== "").map((text) => text.split("\n\n", 1)[0] ?? "");
  const unsigned = made.filter((header) => !/^gpgsig/m.test(header));
  if (unsigned.length === 0) return made.length === 0 ? null : true;
  let why = "Vis signs one commit per call";
  if (made.length === 1) {
    try {
      const programs = { hooks: null, signs: true };
      await askForPrograms(git, programs);
      const args = ["commit", "--quiet", "--amend", "--only", "--allow-empty", "--no-edit", "--cleanup=verbatim"];
      const { code, stderr } = await commitWithPrograms(git, programs, { args, paths: [], message: "", author });
      if (code === 0) return true;
      why = plainReason(stderr);
    } catch (error) {
      git.env.signal?.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      why = withoutAdvice(error);
    }
  }
  const which = made.length === 1 ? "its commit" : counted(unsigned.length, "commit");
  git.env.note?.(
    `git.${name} did not sign ${which}, although the settings of git have commit.gpgSign (${why}); tell the user`,
  );
  return false;
}

/** If a signal ends Vis during a commit, files of this commit stay. */
async function removeLeft(gitDir: string): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(gitDir))).map(({ name }) => name);
  for (const path of names.filter((name) => /^vis-(?:trace|sign)-/.test(name)).map((name) => join(gitDir, name))) {
    const { mtime } = await Deno.lstat(path).catch(() => ({ mtime: null }));
    const isOld = mtime !== null && mtime.getTime() < Date.now() - OLD_MS;
    if (isOld) await Deno.remove(path, { recursive: true }).catch(() => {});
  }
}

async function commitWithHooks(
  git: Git,
  { folder, names }: Hooks,
  { args, paths, message: input, author, keep }: Planned & Pick<SigningArguments, "keep">,
): Promise<Ended> {
  const { env, repository: { gitDir } } = git;
  const isOpen = (await env.openRoot?.(null))?.allowed ?? false;
  const trace = join(gitDir, `vis-trace-${crypto.randomUUID()}`);
  const watcher = env.watchFiles?.({ all: isOpen, commits: true }) ?? null, ended = await watcher?.begin();
  const report = async (): Promise<FileChanges | null> => {
    ended?.();
    return env.closed?.aborted ? null : await watcher?.report() ?? null;
  };
  const run = async (): Promise<{ readonly result: GitResult; readonly ran: RanHooks | null }> => {
    const guard = await HookGuard.begin(git);
    try {
      const result = await git.run([...args, "--", ...paths.map((path) => `:(literal)${path}`)], {
        input,
        env: { ...author, GIT_TRACE2_EVENT: trace },
        hooks: {
          folder,
          keep: [...guard.keep, ...keep],
          isOpen,
          ...env.showOutput ? { onOutput: env.showOutput } : {},
        },
      });
      return { result, ran: ranHooks(await smallTextFile(trace, { most: MOST_TRACE })) };
    } finally {
      await Deno.remove(trace).catch(() => {});
      await guard.end();
    }
  };
  const { result, ran } = await run().catch(async (error: unknown) => {
    await report().catch(() => {});
    throw error;
  });
  const changes = await report();
  // Behind the wall, git does not find a hook whose link leads out of the repository.
  const skipped = ran === null ? [] : names.filter((one) => !ran.names.includes(one));
  const failed = result.code === 0 ? null : ran?.failed ?? null;
  if (failed === null) return { ...result, changes, skipped };
  const name = names.includes(failed.name) ? failed.name : names.join(" or ");
  const changed = changes === null ? [] : [...changes.added, ...changes.changed, ...changes.removed];
  const also = changed.length === 0 ? "" : ` (the hooks changed ${someOf(changed)})`;
  const said = tail(result.stderr.trim());
  throw new Error(
    `Cannot commit: the hook ${name} failed with exit code ${failed.code}${also}${
      said === "" ? "" : ` and printed:\n${said}`
    }`,
  );
}

function tail(text: string): string {
  return text.length > MOST_OUTPUT ? `[…]${text.slice(-MOST_OUTPUT)}`.toWellFormed() : text;
}

interface RanHooks {
  readonly names: readonly string[];
  readonly failed: { readonly name: string; readonly code: number } | null;
}

/** Git itself does not name its hooks, so Vis reads git's trace. Programs of a hook could change the trace. */
function ranHooks(trace: string | null): RanHooks | null {
  if (trace === null) return null;
  const started = new Map<unknown, string>();
  let failed: RanHooks["failed"] = null;
  for (const line of trace.split("\n")) {
    const { event, sid, child_id: id, hook_name: name, code } = eventOf(line);
    // Git of a hook has a longer id, with the id of its parent.
    if (typeof sid !== "string" || sid.includes("/")) continue;
    if (event === "child_start" && typeof name === "string") started.set(id, clip(name, 100));
    const ended = event === "child_exit" && code !== 0 ? started.get(id) : undefined;
    if (ended !== undefined && !ended.startsWith("post-")) failed = { name: ended, code: Number(code) };
  }
  return { names: [...started.values()], failed };
}

function eventOf(line: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}
