/** The parts of the extension that depend on the conversation; loads little. */
import { existsSync } from "node:fs";
import type { EnvironmentView } from "@vis/extension";

/** Where git is searched: the default folders of PATH, which the wall around processes allows. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

/** Whether the workspace is the top of a repository, git is installed, and the machine has a wall for it. */
export function isRepository(workspace: string, programs: readonly string[] = PROGRAMS): boolean {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return false;
  // Usually missing, for which Deno.statSync would make an error.
  return existsSync(`${workspace}/.git`) && programs.some((path) => existsSync(path));
}

const live = {
  activate: ({ workspace }: EnvironmentView): boolean => isRepository(workspace),
  prompt: (): string => "The repository of cwd, as data; runs no hook.",
};
export default live;
