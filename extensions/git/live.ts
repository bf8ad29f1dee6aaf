/** What of the extension depends on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";

/** Folders of programs that the wall around processes opens, as PATH names them where it says nothing. */
const PROGRAMS = ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"];

const isThere = (path: string): Promise<boolean> => Deno.lstat(path).then(() => true, () => false);

/** Whether a workspace is the top of a repository, and git is on this machine, where a wall can stand around it. */
export async function isRepository(workspace: string, programs: readonly string[] = PROGRAMS): Promise<boolean> {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return false;
  if (!await isThere(`${workspace}/.git`)) return false;
  return (await Promise.all(programs.map(isThere))).includes(true);
}

const live = {
  activate: async ({ workspace }: EnvironmentView): Promise<boolean> => await isRepository(workspace),
  prompt: (): string => "The repository of cwd, as data. It runs no hook, filter or other program.",
};
export default live;
