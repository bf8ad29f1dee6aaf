import { join } from "node:path";
import { advised, clip, type FileChanges, isWithin, smallTextFile, someOf } from "@vis/extension";
import { Git, type GitResult, type Hooks, hooksOf } from "./git.ts";

const MOST_OUTPUT = 2_000, MOST_TRACE = 16 << 20;

/** Rejects with Error unless the user lets the hooks run. */
export async function askForHooks(git: Git, hooks: Hooks): Promise<void> {
  const { env, repository: { workspace: top, gitDir, commonDir } } = git;
  const names = hooks.names.join(", "), folders = [top, gitDir, commonDir, ...env.readFolders ?? []];
  // A repository must not open a folder of the user for its programs.
  if (hooks.isNamed && !folders.some((folder) => isWithin(hooks.folder, folder))) {
    throw advised(
      new Error(`Cannot commit: the repository's core.hooksPath is ${hooks.folder}, which is outside the repository`),
      "ask the user to add the folder with --add-dir, or pass {hooks: false}",
    );
  }
  const before = await contents(hooks);
  const { unwalled } = await env.programWalls?.() ?? {};
  const asks = unwalled?.mode === "ask";
  const { allowed = false, reason = "no user can answer here" } = await env.approve?.({
    what: `commit with the ${hooks.names.length === 1 ? "hook" : "hooks"} ${names} of this repository`,
    exact: git.callText,
    why: `The programs in ${hooks.folder} run behind ${asks ? "an incomplete" : "the"} command wall${
      asks ? ` (${unwalled.reason})` : ""
    }, and can change files of the workspace and .git.`,
    scope: `commits with the hooks ${names}`,
    lasting: !asks,
  }) ?? {};
  if (!allowed) {
    throw advised(
      new Error(`Cannot commit: the hooks ${names} need an approval, and ${reason}`),
      "{hooks: false} commits without hooks, as git commit --no-verify does",
    );
  }
  git.allowed();
  const now = await hooksOf(git);
  if (JSON.stringify([hooks, before]) !== JSON.stringify([now, await contents(now)])) {
    throw advised(new Error("Cannot commit: a hook changed before git ran it"), "call git.commit again");
  }
}

async function contents({ names, folder }: Hooks): Promise<readonly (string | null)[]> {
  return await Promise.all(names.map((name) => smallTextFile(join(folder, name), { links: true })));
}

export async function commitWithHooks(
  git: Git,
  { hooks: { folder, names }, args, paths, input, env: variables }: {
    readonly hooks: Hooks;
    readonly args: readonly string[];
    readonly paths: readonly string[];
    readonly input: string;
    readonly env: Readonly<Record<string, string>>;
  },
): Promise<GitResult & { readonly changes: FileChanges | null }> {
  const { env, repository: { gitDir } } = git;
  const all = (await env.openRoot?.(null))?.allowed ?? false;
  const trace = join(gitDir, `vis-trace-${crypto.randomUUID()}`);
  const watcher = env.watchFiles?.({ all }) ?? null, ended = await watcher?.begin();
  const report = async (): Promise<FileChanges | null> => {
    ended?.();
    return env.closed?.aborted ? null : await watcher?.report() ?? null;
  };
  const run = async (): Promise<{ readonly result: GitResult; readonly failed: FailedHook | null }> => {
    try {
      const result = await git.run([...args, "--", ...paths.map((path) => `:(literal)${path}`)], {
        input,
        env: { ...variables, GIT_TRACE2_EVENT: trace },
        hooks: { folder, all, ...env.showOutput ? { onOutput: env.showOutput } : {} },
      });
      const failed = result.code === 0 ? null : failedHook(await smallTextFile(trace, { most: MOST_TRACE }));
      return { result, failed };
    } finally {
      await Deno.remove(trace).catch(() => {});
    }
  };
  const { result, failed } = await run().catch(async (error: unknown) => {
    await report().catch(() => {});
    throw error;
  });
  const changes = await report();
  if (result.code === 0 || failed === null) return { ...result, changes };
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

interface FailedHook {
  readonly name: string;
  readonly code: number;
}

/** Git itself does not name a hook that failed, so Vis reads git's trace. Programs of the hook could change the trace. */
function failedHook(trace: string | null): FailedHook | null {
  const started = new Map<unknown, string>();
  let failed: FailedHook | null = null;
  for (const line of trace?.split("\n") ?? []) {
    const { event, sid, child_id: id, hook_name: name, code } = eventOf(line);
    // Git of a hook has a longer id, with the id of its parent.
    if (typeof sid !== "string" || sid.includes("/")) continue;
    if (event === "child_start" && typeof name === "string") started.set(id, clip(name, 100));
    const ended = event === "child_exit" && code !== 0 ? started.get(id) : undefined;
    if (ended !== undefined && ended !== "post-commit") failed = { name: ended, code: Number(code) };
  }
  return failed;
}

function eventOf(line: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}
