import type { EnvironmentView } from "@vis/extension";
import { refuseFiltered } from "./filtered.ts";
import { Git } from "../program/git.ts";
import { plainReason, unmatchedPath } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { newSecrets } from "./new_secrets.ts";
import { isPrinted, printedName } from "../output/quoted_name.ts";
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
  const git = await Git.of(env);
  const printed = list.filter(isPrinted);
  const { files, left } = await readStatus(git, {
    all: true,
    limit: MOST,
    ...(printed.length > 0 ? {} : { paths: list }), // such names cannot be arguments
  });
  if (left > 0) throw new Error(`Cannot add over ${MOST} files at once: name folders`);
  const changed = files.filter((file) => file.untracked || file.changed || file.conflict)
    .filter(({ path }) => printed.length === 0 || list.some((one) => one === path || path.startsWith(`${one}/`)));
  // From then on, git would show it without a question.
  const [secret] = await newSecrets(git, { paths: changed.map(({ path }) => path), secrets: env.secrets ?? [] });
  if (secret !== undefined) throw new Error(`Cannot add ${secret}: it may hold keys; name other paths, or ignore it`);
  await refuseFiltered(git, changed.map(({ path }) => path));
  const input = list.map((path) => `${printedName(path)}\n`).join("");
  const { code, stderr } = await git.run(["add", "--pathspec-from-file=-"], { changes: "repository", input });
  if (code !== 0) throw await addError(git, stderr);
  return { files: changed.slice(0, SHOWN).map(addedFile), left: Math.max(0, changed.length - SHOWN) };
}

function addedFile({ path, untracked, changed }: FileStatus): Added["files"][number] {
  return { path, change: untracked ? "added" : changed === "deleted" ? "deleted" : "modified" };
}

async function addError(git: Git, stderr: string): Promise<Error> {
  const path = unmatchedPath(stderr);
  if (path === undefined) return new Error(`Cannot add: ${plainReason(stderr)}`);
  return await missingFile(git, { cannot: "Cannot add", path });
}
