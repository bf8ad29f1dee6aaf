/** What of the extension depends on the conversation; loads little. */
import { existsSync } from "node:fs";
import type { EnvironmentView } from "@vis/extension";

/** Folders of programs that the wall around processes opens, as PATH names them where it says nothing. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

/** Whether a workspace is the top of a repository, and git is on this machine, where a wall can stand around it. */
export function isRepository(workspace: string, programs: readonly string[] = PROGRAMS): boolean {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return false;
  // Asked at each query: calls that wait for no thread of the runtime.
  return existsSync(`${workspace}/.git`) && programs.some((path) => existsSync(path));
}

const live = {
  activate: ({ workspace }: EnvironmentView): boolean => isRepository(workspace),
  prompt: (): string => "The repository of cwd, as data. It runs no hook, filter or other program.",
};
export default live;
