import type { Git } from "../program/git.ts";
import { plainReason } from "../program/git_error.ts";
import { nameOf, printedName } from "../output/quoted_name.ts";

const SHOWN = 5;

/** Throws Error if a file would be stored without the filter that its attributes name. The repository chooses filter
 * programs, so none are run here. */
export async function refuseFiltered(git: Git, paths: readonly string[], cannot = "Cannot add"): Promise<void> {
  if (paths.length === 0) return;
  const { code, stdout, stderr } = await git.run(["check-attr", "filter", "--stdin"], {
    input: paths.map((path) => `${printedName(path)}\n`).join(""),
  });
  if (code !== 0) throw new Error(`Cannot read the attributes of files: ${plainReason(stderr)}`);
  const filtered = stdout.split("\n").flatMap((line) => {
    const [, path = "", filter = ""] = /^(.*): filter: (.*)$/.exec(line) ?? [];
    return filter === "" || filter === "unspecified" || filter === "unset" ? [] : [`${nameOf(path)} (${filter})`];
  });
  if (filtered.length === 0) return;
  const named = [...filtered.slice(0, SHOWN), ...(filtered.length > SHOWN ? [`${filtered.length - SHOWN} more`] : [])];
  throw new Error(
    `${cannot} ${
      named.join(", ")
    }: .gitattributes names a filter for it, a program that is not run here; leave it to the user`,
  );
}
