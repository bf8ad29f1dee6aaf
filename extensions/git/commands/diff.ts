import type { EnvironmentView } from "@vis/extension";
import { noteGuesses } from "../output/file_text.ts";
import { Git } from "../program/git.ts";
import { pathArguments } from "../program/paths.ts";
import { type Diff, PatchReader } from "../output/patch_reader.ts";
import { RecordReader } from "../output/record_reader.ts";
import { checkedRef, refError } from "../program/refs.ts";
import { newSecrets } from "./new_secrets.ts";

export interface DiffOptions {
  /** The older side: by default the index, or the last commit with `staged`. */
  readonly from?: string;
  /** The newer side; the workspace by default. */
  readonly to?: string;
  /** Shows what the next commit would change. */
  readonly staged?: boolean;
  readonly paths?: string | readonly string[];
  readonly context?: number;
  readonly maxChars?: number;
}

const MAX_CHARS = 400_000;
const MAX_FILES = 300;

/** Fixes the format of patches, whatever the repository configures, and runs no external diff program. */
export const PATCH_ARGUMENTS: readonly string[] = [
  "--patch",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--find-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--inter-hunk-context=0",
  "-O/dev/null",
];

/** `git.diff` */
export async function diff(env: EnvironmentView, options: DiffOptions = {}): Promise<Diff> {
  const { from, to, staged = false, paths, context = 3, maxChars = MAX_CHARS } = options;
  if (to !== undefined && (from === undefined || staged)) {
    throw new TypeError("Cannot compare: to takes from beside it, and no staged");
  }
  const refs = [from, to].filter((ref) => ref !== undefined).map((ref) => checkedRef(ref));
  const git = await Git.of(env);
  const patch = new PatchReader({ files: MAX_FILES, chars: maxChars });
  const reader = new RecordReader((line, bytes) => patch.line(line, bytes));
  const { code, stderr } = await git.run(
    [
      "diff",
      ...(staged ? ["--cached"] : []),
      ...PATCH_ARGUMENTS,
      `--unified=${context}`,
      ...refs,
      ...pathArguments(paths),
    ],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) throw await refError(git, { cannot: "Cannot compare", stderr, refs });
  noteGuesses(env, patch.decode());
  return await withoutNewSecrets(git, { diff: patch.diff, env });
}

/** Names new files that may hold keys without their lines. */
async function withoutNewSecrets(
  git: Git,
  { diff, env: { secrets = [] } }: { readonly diff: Diff; readonly env: EnvironmentView },
): Promise<Diff> {
  const hidden = await newSecrets(git, { paths: diff.files.flatMap(({ path, from = path }) => [path, from]), secrets });
  if (hidden.size === 0) return diff;
  const files = diff.files.map((file) =>
    hidden.has(file.path) || hidden.has(file.from ?? "")
      ? { ...file, hunks: [], left: file.added + file.deleted }
      : file
  );
  return { ...diff, files };
}
