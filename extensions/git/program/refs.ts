import { nearestNames } from "@vis/extension";
import type { Git } from "./git.ts";
import { gitSays, plainReason } from "./git_error.ts";

const MAX_REFS = 2000;

/** The name of a commit, or a range if `range` is set, as an argument. Throws TypeError for a name that git would
 * interpret differently. */
export function checkedRef(ref: string, { range = false }: { readonly range?: boolean } = {}): string {
  // deno-lint-ignore no-control-regex
  if (ref === "" || ref.startsWith("-") || ref.length > 1000 || /[\x00-\x1f\x7f]/.test(ref)) {
    throw new TypeError(`Cannot use ${JSON.stringify(ref.slice(0, 100))}: it is not the name of a commit or branch`);
  }
  if (!range && ref.includes("..")) {
    throw new TypeError(`Cannot use ${JSON.stringify(ref)}: it is a range, name one commit`);
  }
  return ref;
}

/** There is no commit, or none of the branch that HEAD names. */
export class NoCommitError extends Error {
  override readonly name = "NoCommitError";
}

/** The error for a failed call. For an unknown name, even if git was not run, it lists the existing ones. */
export async function refError(
  git: Git,
  { cannot, stderr, refs }: {
    readonly cannot: string;
    /** Null if the name is known to be invalid. */
    readonly stderr: string | null;
    readonly refs: readonly string[];
  },
): Promise<Error> {
  const named = refs.filter((ref) => ref !== "HEAD");
  if (stderr !== null && !gitSays("noRef", stderr)) return new Error(`${cannot}: ${plainReason(stderr)}`);
  const { stdout } = await git.run(["for-each-ref", `--count=${MAX_REFS}`, "--format=%(refname:short)"]);
  const known = stdout.split("\n").filter((name) => name !== "");
  if (known.length === 0) return new NoCommitError(`${cannot}: there is no commit yet`);
  const [wanted] = named;
  if (wanted === undefined) {
    const unborn = (await git.run(["rev-parse", "--verify", "--quiet", "HEAD"])).code !== 0;
    return unborn
      ? new NoCommitError(`${cannot}: there is no commit of this branch yet`)
      : new Error(`${cannot}: ${plainReason(stderr ?? "")}`);
  }
  return new Error(`${cannot}: there is no ${wanted}; the nearest are ${nearestNames(wanted, known).join(", ")}`);
}
