const MAX_CHARS = 600;

/** Git's wording of errors that callers distinguish. */
const WORDS = {
  noCommit: /does not have any commits yet|bad default revision/,
  notMerged: /is not fully merged/,
  checkedOut: /cannot delete branch .* (?:checked out|used by worktree) at/i,
  notClean: /contains modified or untracked files/,
  uncommitted:
    /you have unstaged changes|your index contains uncommitted changes|needs merge|cannot .*: your local changes/i,
  untracked: /untracked working tree files/,
  noPath: /no such path|no such file|cannot stat path/i,
  noRef:
    /unknown revision|bad revision|ambiguous argument|not a valid object|invalid object|does not exist in|invalid reference|no such ref|not a commit|not a valid ref|needed a single revision/i,
} as const;

export function gitSays(what: keyof typeof WORDS, stderr: string): boolean {
  // deno-lint-ignore vis/no-message-parsing -- git's exit codes do not distinguish errors
  return WORDS[what].test(stderr);
}

/** The path for which git found nothing. */
export function unmatchedPath(stderr: string): string | undefined {
  // deno-lint-ignore vis/no-message-parsing -- git's exit codes do not distinguish errors
  return /pathspec '(.*)' did not match any file/.exec(stderr)?.[1];
}

/** Files that git did not overwrite because they have uncommitted changes, or are not tracked. */
export function overwrittenPaths(stderr: string): readonly string[] {
  const listed = /would be (?:overwritten|removed) by [\w -]+:\n((?:[ \t]+\S.*\n)+)/.exec(`${stderr}\n`)?.[1] ?? "";
  return listed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** Lines in which git advises its own commands. */
const ADVICE =
  /^(?:hint:|warning:|\s*git [a-z]|if you (?:wish|want)|otherwise, please|please |consider "git |\(?use ["'])/i;

/** Git's reason for a failure, without its prefixes and advice. */
export function plainReason(stderr: string): string {
  const lines = stderr.trim().split("\n").filter((line) => !ADVICE.test(line));
  const text = lines.map((line) => line.replace(/^(fatal|error): /, "").trim()).filter((line) => line !== "").map((
    line,
  ) => line.replace(/[.;]+$/, ""))
    .join("; ");
  const plain = text || stderr.trim() || "git said nothing";
  return plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)}…` : plain.replace(/[.;]+$/, "");
}
