/** The parts of the extension that depend on the conversation; loads little. */
import { existsSync } from "node:fs";
import type { EnvironmentView } from "@vis/extension";

/** Where git is searched: the default folders of PATH, which the wall around processes allows. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

/** Whether git is installed. */
export function hasGit(programs: readonly string[] = PROGRAMS): boolean {
  return programs.some((path) => existsSync(path)); // Deno.statSync would make an error for a missing one
}

/** While a command runs, an empty folder may be there. */
function isRepository(path: string): boolean {
  return existsSync(path) && (!Deno.statSync(path).isDirectory || existsSync(`${path}/HEAD`));
}

const live = {
  activate: (): boolean => hasGit(),
  /** The prompt names the functions only where there is a repository; `git.init` makes one. */
  prompt: ({ workspace }: EnvironmentView): string =>
    isRepository(`${workspace}/.git`)
      ? "The repository of cwd, as data; runs no hook. Change it here, not by shell."
      : "",
};
export default live;
