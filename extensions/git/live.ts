/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";

/** Where git is searched: the default folders of PATH, which the wall around processes allows. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

/** Called for each query. Synchronous, so it wakes no thread of the runtime, and it loads no Node modules. */
function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether the workspace is the top of a repository, git is installed, and the machine has a wall for it. */
export function isRepository(workspace: string, programs: readonly string[] = PROGRAMS): boolean {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return false;
  return isThere(`${workspace}/.git`) && programs.some((path) => isThere(path));
}

const live = {
  activate: ({ workspace }: EnvironmentView): boolean => isRepository(workspace),
  prompt: (): string => "The repository of cwd, as data; runs no hook.",
};
export default live;
