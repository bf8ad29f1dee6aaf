/** What of the extension depends on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";

/** Folders of programs that the wall around processes opens, as PATH names them where it says nothing. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

/** Asked at each query: a call that waits wakes no thread of the runtime, and loads none of Node's modules. */
function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether a workspace is the top of a repository, and git is on this machine, where a wall can stand around it. */
export function isRepository(workspace: string, programs: readonly string[] = PROGRAMS): boolean {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return false;
  return isThere(`${workspace}/.git`) && programs.some((path) => isThere(path));
}

const live = {
  activate: ({ workspace }: EnvironmentView): boolean => isRepository(workspace),
  prompt: (): string => "The repository of cwd, as data. It runs no hook, filter or other program.",
};
export default live;
