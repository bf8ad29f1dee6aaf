import { lstatSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { EnvironmentView } from "@vis/extension";
import { refuseFiltered } from "./filtered.ts";
import { Git } from "../program/git.ts";
import { plainReason, unmatchedPath } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { refuseNewSecrets } from "./new_secrets.ts";
import { isPrinted, printedName } from "../output/quoted_name.ts";
import { named } from "./state.ts";
import { type FileStatus, readStatus } from "./status.ts";

export interface Added {
  readonly files: readonly { readonly path: string; readonly change: "added" | "modified" | "deleted" }[];
  /** Number of files that are not listed. */
  readonly left: number;
}

const SHOWN = 500;
const MOST = 100_000;

/** `git.add`: stages what is new, changed or removed below the paths. */
export async function add(env: EnvironmentView, paths: string | readonly string[]): Promise<Added> {
  const list = typeof paths === "string" ? [paths] : paths;
  const git = await Git.of(env, ["add", paths]);
  const printed = list.filter(isPrinted);
  const { files, left } = await readStatus(git, {
    all: true,
    limit: MOST,
    cannot: "Cannot add",
    ...(printed.length > 0 ? {} : { paths: list }), // such names cannot be arguments
  });
  if (left > 0) throw new Error(`Cannot add over ${MOST} files at once: name folders`);
  const changed = files.filter((file) => file.untracked || file.changed || file.conflict)
    .filter(({ path }) => printed.length === 0 || list.some((one) => one === path || path.startsWith(`${one}/`)));
  const names = changed.map(({ path }) => path);
  refuseRepositories(git, { files: changed, list });
  await refuseNewSecrets(git, { paths: names, secrets: env.secrets, cannot: "Cannot add" });
  await refuseFiltered(git, names);
  // git knows no path of a file whose removal is staged already.
  const gone = new Set(files.filter((file) => file.staged === "deleted").map(({ path }) => path));
  for (const path of names) gone.delete(path); // it is there again
  const input = list.filter((path) => !gone.has(path)).map((path) => `${printedName(path)}\n`).join("");
  if (input === "" && list.length > 0) return { files: [], left: 0 };
  const { code, stderr } = await git.run(["add", "--pathspec-from-file=-"], { changes: "repository", input });
  if (code !== 0) throw await addError(git, stderr);
  return { files: changed.slice(0, SHOWN).map(addedFile), left: Math.max(0, changed.length - SHOWN) };
}

/** Throws Error for files in another repository, of which git would keep the commit it is at instead of its files. A
 * submodule that the last commit has may move to another commit. */
function refuseRepositories(
  git: Git,
  { files, list }: { readonly files: readonly FileStatus[]; readonly list: readonly string[] },
): void {
  const { workspace } = git.repository;
  const paths = files.filter(({ submodule }) => !submodule).map(({ path }) => path);
  const found = new Set(paths.filter((path) => path.endsWith("/"))); // git lists the files of all other folders
  const folders = new Set<string>();
  for (const path of [...paths, ...list]) {
    for (let at = dirname(normalize(path)); at !== "." && at !== ".." && at !== "/"; at = dirname(at)) folders.add(at);
  }
  for (const folder of folders) {
    if (lstatSync(join(workspace, folder, ".git"), { throwIfNoEntry: false }) !== undefined) found.add(`${folder}/`);
  }
  if (found.size === 0) return;
  throw new Error(
    `Cannot add ${named([...found])}: it is a repository of its own; name other paths, add it to .gitignore, or ` +
      "remove its .git so that its files are added",
  );
}

function addedFile({ path, untracked, changed }: FileStatus): Added["files"][number] {
  return { path, change: untracked ? "added" : changed === "deleted" ? "deleted" : "modified" };
}

async function addError(git: Git, stderr: string): Promise<Error> {
  const path = unmatchedPath(stderr);
  if (path === undefined) return new Error(`Cannot add: ${plainReason(stderr)}`);
  return await missingFile(git, { cannot: "Cannot add", path });
}
