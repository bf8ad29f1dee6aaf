import { nearestNames } from "@vis/extension";
import type { Git } from "../program/git.ts";
import { nameOf } from "../output/quoted_name.ts";

const MOST = 5_000;

/** The error for an unknown path; it suggests existing ones, in the workspace or in a commit. */
export async function missingFile(
  git: Git,
  { cannot, path, commit }: { readonly cannot: string; readonly path: string; readonly commit?: string },
): Promise<Error> {
  const list = commit === undefined
    ? ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    : ["ls-tree", "-r", "--name-only", "--full-tree", commit];
  const { stdout } = await git.run(list);
  const known = stdout.split("\n").filter((name) => name !== "").slice(0, MOST).map(nameOf);
  const near = known.length === 0 ? "" : `; the nearest are ${nearestNames(path, known).join(", ")}`;
  return new Error(`${cannot}: there is no file ${path}${commit === undefined ? "" : ` in ${commit}`}${near}`);
}
