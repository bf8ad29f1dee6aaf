import { type EnvironmentView, isSecretFile } from "@vis/extension";
import type { Git } from "../program/git.ts";

/** Of these files, those that may hold keys and that the last commit does not have, whatever the index says: a command
 * may have added them there, and git would show them without a question. */
export async function newSecrets(
  git: Git,
  { paths, secrets = [] }: Pick<EnvironmentView, "secrets"> & { readonly paths: readonly string[] },
): Promise<ReadonlySet<string>> {
  const found = paths.filter((path) => isSecretFile(path, secrets));
  if (found.length === 0) return new Set();
  // Fails where there is no commit yet.
  const { code, stdout } = await git.run(["ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ...found]);
  const committed = new Set(code === 0 ? stdout.split("\0") : []);
  return new Set(found.filter((path) => !committed.has(path)));
}

/** Throws Error if git would keep a new file that may hold keys: from then on, it would show it without a question. */
export async function refuseNewSecrets(
  git: Git,
  { paths, secrets, cannot }: {
    readonly paths: readonly string[];
    readonly secrets: readonly string[] | undefined;
    readonly cannot: string;
  },
): Promise<void> {
  const [secret] = await newSecrets(git, { paths, ...(secrets ? { secrets } : {}) });
  if (secret !== undefined) throw new Error(`${cannot} ${secret}: it may hold keys; name other paths, or ignore it`);
}
