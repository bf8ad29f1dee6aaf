import type { EnvironmentView } from "@vis/extension";
import { Git } from "../program/git.ts";
import { checkedRef, refError } from "../program/refs.ts";
import { commitHash, gitRefusal, type GitState, readState, refuseDuring } from "./state.ts";
import { readStatus } from "./status.ts";
import { refuseIncoming } from "./uncommitted.ts";

export interface SwitchOptions {
  /** Makes the branch. */
  readonly create?: boolean;
  /** Where a new branch starts; HEAD by default. */
  readonly from?: string;
}

/** `git.switch`: goes to a branch, or to a commit or tag on no branch. Uncommitted changes come along; git refuses to
 * overwrite them. */
export async function switchTo(env: EnvironmentView, to: string, options: SwitchOptions = {}): Promise<GitState> {
  const git = await Git.of(env, ["switch", to, options]);
  await goTo(git, { to, ...options });
  return await readState(git);
}

export async function goTo(
  git: Git,
  { to, from, create = from !== undefined }: SwitchOptions & { readonly to: string },
): Promise<void> {
  checkedRef(to);
  if (from !== undefined) checkedRef(from);
  const cannot = `Cannot go to ${to}`;
  const there = await isBranch(git, to);
  if (create && there) throw new Error(`Cannot make branch ${to}: it already exists; git.switch without create`);
  const remote = create || there ? null : await remoteBranch(git, to);
  const start = from ?? remote;
  const makes = create || remote !== null;
  const commit = there ? `refs/heads/${to}` : makes ? start : await commitHash(git, { ref: to, cannot }).catch(unknown);
  if (commit !== null && commit !== undefined) {
    const hash = await commitHash(git, { ref: commit, cannot });
    await refuseIncoming(git, { incoming: [{ commit: hash, carries: true }], base: hash, cannot });
  }
  const how = makes ? ["--no-track", "--create"] : there ? [] : ["--detach"];
  const args = ["switch", "--quiet", "--no-guess", "--no-recurse-submodules", ...how, to, ...(start ? [start] : [])];
  const done = await git.run(args, { changes: "workspace" });
  if (done.code === 0) return;
  refuseDuring(await readStatus(git), cannot);
  const refused = gitRefusal(done, cannot);
  throw from === undefined ? refused : await refError(git, { cannot, stderr: done.stderr, refs: [from] });

  function unknown(error: unknown): never {
    if (!(error instanceof Error)) throw error;
    throw new Error(`${error.message}; {create: true} makes it`);
  }
}

export async function isBranch(git: Git, name: string): Promise<boolean> {
  return (await git.run(["show-ref", "--verify", "--quiet", `refs/heads/${name}`])).code === 0;
}

/** The one remote branch of this name, if there is no local one, nor another commit of this name. */
async function remoteBranch(git: Git, name: string): Promise<string | null> {
  if ((await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`])).code === 0) {
    return null;
  }
  const { stdout } = await git.run(["for-each-ref", "--format=%(refname)", "refs/remotes"]);
  const found = stdout.split("\n").filter((ref) => ref.split("/").slice(3).join("/") === name);
  return found.length === 1 ? found[0] ?? null : null;
}
