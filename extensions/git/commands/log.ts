import type { EnvironmentView } from "@vis/extension";
import { type Commit, COMMIT_FORMAT, commitOf } from "../output/commit_fields.ts";
import { Git } from "../program/git.ts";
import { pathArguments } from "../program/paths.ts";
import { RecordReader } from "../output/record_reader.ts";
import { gitSays } from "../program/git_error.ts";
import { checkedRef, NoCommitError, refError } from "../program/refs.ts";

export interface LogOptions {
  /** A branch, a commit, or a range such as main..HEAD; HEAD by default. */
  readonly ref?: string;
  readonly paths?: string | readonly string[];
  readonly limit?: number;
  readonly skip?: number;
  /** Part of the author's name or address. */
  readonly author?: string;
  /** Part of the message. */
  readonly grep?: string;
  readonly since?: string | Date;
  readonly until?: string | Date;
  /** Only commits made on this branch itself. */
  readonly firstParent?: boolean;
}

export interface CommitLog {
  readonly commits: readonly Commit[];
  /** Number of older commits that match too. */
  readonly left: number;
}

const LIMIT = 50;
const NUL = 0;

/** `git.log` */
export async function log(env: EnvironmentView, options: LogOptions = {}): Promise<CommitLog> {
  const { ref = "HEAD", limit = LIMIT, skip = 0 } = options;
  const wanted = [...filters(options), checkedRef(ref, { range: true }), ...pathArguments(options.paths)];
  const git = await Git.of(env);
  const commits: Commit[] = [];
  const reader = new RecordReader((text) => commits.push(commitOf(text)), { separator: NUL });
  const shape = ["-z", "--no-show-signature", "--no-notes", "--no-color", "--no-patch", `--format=${COMMIT_FORMAT}`];
  const { code, stderr } = await git.run(["log", `--max-count=${limit}`, `--skip=${skip}`, ...shape, ...wanted], {
    take: (chunk) => reader.push(chunk),
  });
  reader.end();
  if (code !== 0) {
    if (ref === "HEAD" && gitSays("noCommit", stderr)) return NOTHING;
    const error = await refError(git, { cannot: "Cannot read the log", stderr, refs: [ref] });
    if (ref === "HEAD" && error instanceof NoCommitError) return NOTHING;
    throw error;
  }
  if (commits.length < limit) return { commits, left: 0 };
  const counted = await git.run(["rev-list", "--count", ...wanted]);
  return { commits, left: Math.max(0, Number(counted.stdout.trim()) - skip - commits.length) };
}

const NOTHING: CommitLog = { commits: [], left: 0 };

function filters({ author, grep, since, until, firstParent }: LogOptions): readonly string[] {
  const date = (time: string | Date): string => typeof time === "string" ? time : time.toISOString();
  return [
    // A pattern is treated as text, so that it cannot keep the machine busy.
    "--fixed-strings",
    "--regexp-ignore-case",
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(grep === undefined ? [] : [`--grep=${grep}`]),
    ...(since === undefined ? [] : [`--since=${date(since)}`]),
    ...(until === undefined ? [] : [`--until=${date(until)}`]),
    ...(firstParent ? ["--first-parent"] : []),
  ];
}
