import { join } from "node:path";
import type { EnvironmentView } from "@vis/extension";
import { askToChange, Git } from "../program/git.ts";
import { plainReason } from "../program/git_error.ts";
import { checkedRef } from "../program/refs.ts";
import { closestRepository } from "../program/repository.ts";
import { SAFE_ARGUMENTS, SAFE_ENVIRONMENT } from "../program/safe_config.ts";
import { type GitState, readState } from "./state.ts";

/** `git.init`: makes a repository of the workspace, without hooks or other files of a template. */
export async function init(
  env: EnvironmentView,
  { branch = "main" }: { readonly branch?: string } = {},
): Promise<GitState> {
  checkedRef(branch);
  if (!env.spawn) throw new Error("Cannot use git here: this conversation has no wall for programs");
  const there = closestRepository(env.workspace);
  if (there !== null) {
    const where = there === env.workspace ? "there is one already" : `the workspace is in the repository of ${there}`;
    throw new Error(`Cannot make a repository: ${where}`);
  }
  await askToChange(env, () => ({ name: "init", what: `create a repository in ${env.workspace}` }));
  const args = [
    "git",
    ...SAFE_ARGUMENTS,
    "init",
    "--quiet",
    "--template=",
    `--initial-branch=${branch}`,
    env.workspace,
  ];
  const { code, stderr, notes } = await env.spawn(args, {
    answered: true,
    env: SAFE_ENVIRONMENT,
    network: false,
    pauses: true,
    write: [env.workspace, join(env.workspace, ".git")],
  });
  for (const note of notes) env.note?.(note);
  if (code !== 0) throw new Error(`Cannot make a repository: ${plainReason(stderr)}`);
  return await readState(await Git.of(env), "git.add what the first commit has, then git.commit(message)");
}
