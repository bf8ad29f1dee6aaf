import type { programsOf } from "../settings/settings.ts";

interface Repository extends Pick<ReturnType<typeof programsOf>, "spawn"> {
  readonly root: string | null;
}

const GIT_MS = 5_000;

export async function gitState({ root, spawn }: Repository): Promise<string> {
  if (root === null) return "";
  const { code, stdout } = await git(
    { root, spawn },
    ["status", "--porcelain", "--branch", "--ignore-submodules", "--no-ahead-behind"],
  );
  const [head = "", ...changes] = stdout.trimEnd().split("\n");
  const [, branch] = /^## (?:No commits yet on )?(.+?)(?:\.\.\..*)?$/.exec(head) ?? [];
  if (code !== 0 || branch === undefined) return "";
  return `${branch.startsWith("HEAD (") ? "no branch" : branch}${changes.length > 0 ? "*" : ""}`;
}

/** With `--quiet`, git ends with this code if the name means no commit, and with another code after other faults. */
const MISSING = 1;

/** Resolves with true if Vis cannot know, as outside of a repository or without a complete wall. */
export async function mayHaveCommit(name: string, { root, spawn }: Repository): Promise<boolean> {
  if (root === null) return true;
  for (const one of name.split(/\.{2,3}/).filter((part) => part !== "")) {
    const asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${one}^{commit}`];
    const code = await git({ root, spawn }, asked).then((done) => done.code, () => null);
    if (code === MISSING) return false;
  }
  return true;
}

/** The repository may be hostile, so git runs behind a complete wall. */
async function git(
  { root, spawn }: Repository & { readonly root: string },
  args: readonly string[],
): ReturnType<Repository["spawn"]> {
  const safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"];
  return await spawn(root, ["sh", "-c", 'exec git "$@"', "sh", "-C", root, ...safe, ...args], {
    ...{ cwd: null, answered: true, whole: true, network: false, write: [], root },
    timeoutMs: GIT_MS,
  }, null);
}
