import { join } from "node:path";
import { advised, counted, type EnvironmentView, smallTextFile, someOf } from "@vis/extension";
import { type Call, Git, gitReason, gitRefusal, type GitResult } from "./git.ts";
import { committer, isOn } from "./identity.ts";
import { type IncomingNames, refuseIncoming } from "./incoming_files.ts";
import { checkedRef, commitHash, refError } from "./refs_and_paths.ts";
import { type GitState, isRefused, readState, readStatus, refuseDuring, wayOn } from "./status.ts";
import { saveWork, uncommitted } from "./stash_reset.ts";

export interface SequenceSteps {
  readonly continue?: boolean;
  readonly abort?: boolean;
  readonly skip?: boolean;
}

export interface MergeOptions extends Omit<SequenceSteps, "skip"> {
  readonly noFf?: boolean;
  readonly ffOnly?: boolean;
  readonly squash?: boolean;
  readonly message?: string;
}

export interface RebaseOptions extends SequenceSteps {
  readonly onto?: string;
  readonly from?: string;
}

export interface PickOptions extends SequenceSteps {
  readonly noCommit?: boolean;
  readonly mainline?: number;
}

interface Sequenced extends GitState {
  readonly was: string;
  readonly why?: string;
  readonly saved?: string;
  /** Absent without `commit.gpgSign` or without a new commit. */
  readonly signed?: boolean;
}

type During = "merge" | "rebase" | "cherry-pick" | "revert";

const NAMES = { merge: "merge", rebase: "rebase", "cherry-pick": "cherryPick", revert: "revert" } as const;

const MOST_COMMITS = 1000, SHORT = 7;
const SHOWN_STEP = 100;

/** A setting of the repository could choose a strategy or a signing program, so the arguments fix both. */
function strategy(merging: readonly string[]): readonly string[] {
  // Before git 2.50, "ort" follows renames even if the settings turn renames off.
  return [`--strategy=${merging.length > 0 ? "recursive" : "ort"}`, "--no-gpg-sign"];
}

const BUILT_IN = new Set(["ort", "recursive"]);

const STEP =
  /^[ \t]*(?:(?:pick|p|edit|e|reword|r|squash|s|fixup|f|drop|d|revert|label|l|reset|t|merge|m|update-ref|u|noop|break|b)(?:[ \t].*)?|#.*)?\r?$/;

export async function merge(
  env: EnvironmentView,
  given: string | MergeOptions,
  more: MergeOptions = {},
): Promise<Sequenced> {
  const ref = typeof given === "string" ? checkedRef(given) : undefined;
  const { noFf = false, ffOnly = false, squash = false, message, ...steps } = typeof given === "string" ? more : given;
  const step = stepOf("merge", steps, ref !== undefined);
  if (step !== null) return await goOn(env, "merge", step);
  if ([noFf, ffOnly, squash].filter(Boolean).length > 1) {
    throw advised(new TypeError("Cannot merge: noFf, ffOnly and squash exclude each other"), "pass only one of them");
  }
  const cannot = `Cannot merge ${ref}`;
  const begun = await begin(env, ["merge", given, more], cannot);
  const { git, status: { branch } } = begun;
  const hash = await commitHash(git, ref ?? "", cannot);
  const incoming: IncomingNames[] = [{ from: "HEAD", to: hash, sinceFork: true }];
  const merging = await refuseIncoming(git, { incoming, cannot });
  const described = await describedRef(git, ref ?? "");
  const own = branch === null || branch.includes("=") ? [] : ["-c", `branch.${branch}.mergeOptions=`];
  const flags = [
    noFf ? "--no-ff" : ffOnly ? "--ff-only" : "--ff",
    ...(squash ? ["--squash"] : []),
    ...["--no-verify", "--no-verify-signatures", "--no-edit", "--no-stat", "--no-autostash", "--no-log", "--quiet"],
    "--cleanup=whitespace",
    "-m",
    // For a hash, git would write an unclear description, so Vis writes the message.
    message ?? `Merge ${described ?? `commit ${ref}`}${branch === null ? "" : ` into ${branch}`}`,
  ];
  // Git names the argument in conflict markers. FETCH_HEAD could name several commits.
  const merged = described === null ? hash : ref ?? "";
  const result = await run(begun, [...merging, ...own, "merge", ...strategy(merging), ...flags, merged]);
  return await stateAfter(begun, {
    during: "merge",
    result,
    cannot,
    known: [hash],
    ...(squash ? { next: "git.commit(message)" } : {}),
  });
}

export async function rebase(
  env: EnvironmentView,
  given: string | RebaseOptions,
  more: RebaseOptions = {},
): Promise<Sequenced> {
  const { onto, from, ...steps } = typeof given === "string" ? { ...more, onto: given } : given;
  const step = stepOf("rebase", steps, onto !== undefined);
  if (step !== null) return await goOn(env, "rebase", step);
  const cannot = `Cannot rebase onto ${onto}`;
  const begun = await begin(env, ["rebase", given, more], cannot);
  const { git } = begun;
  const base = await commitHash(git, checkedRef(onto ?? ""), cannot);
  const after = from === undefined ? base : await commitHash(git, checkedRef(from), cannot);
  const each = await commitsIn(git, `${after}..HEAD`, cannot);
  const merging = await refuseIncoming(git, { incoming: [{ commit: base }, { each }], base, cannot });
  const flags = [
    ...["--merge", "--quiet", "--no-autostash", "--no-autosquash", "--no-stat", "--no-verify", "--no-fork-point"],
    ...["--no-rerere-autoupdate", `--onto=${base}`],
  ];
  const result = await run(begun, [...merging, "rebase", ...strategy(merging), ...flags, after]);
  return await stateAfter(begun, { during: "rebase", result, cannot, known: [base] });
}

export async function pickCommits(
  env: EnvironmentView,
  during: "cherry-pick" | "revert",
  given: string | readonly string[] | PickOptions,
  more: PickOptions = {},
): Promise<Sequenced> {
  const refs = typeof given === "string" ? [given] : Array.isArray(given) ? given as readonly string[] : [];
  const { noCommit = false, mainline, ...steps } = refs.length > 0 ? more : given as PickOptions;
  const step = stepOf(during, steps, refs.length > 0);
  if (step !== null) return await goOn(env, during, step);
  const cannot = `Cannot ${during} ${someOf(refs)}`;
  const begun = await begin(env, [NAMES[during], given, more], cannot);
  const { git } = begun;
  const each: string[] = [];
  for (const ref of refs) {
    if (checkedRef(ref, { range: true }).includes("..")) {
      const found = await commitsIn(git, ref, cannot);
      each.push(...(during === "revert" ? [...found].reverse() : found));
    } else each.push(await commitHash(git, ref, cannot));
  }
  if (each.length === 0) throw new Error(`${cannot}: no commit is in the range`);
  await refuseMainline(git, { each, mainline, cannot });
  const merging = await refuseIncoming(git, { incoming: [{ each, reverted: during === "revert" }], cannot });
  const flags = [
    ...(during === "revert" ? ["--no-edit"] : []),
    ...(noCommit ? ["--no-commit"] : []),
    ...(mainline === undefined ? [] : [`--mainline=${mainline}`]),
  ];
  const result = await run(begun, [...merging, during, ...strategy(merging), ...flags, ...each]);
  return await stateAfter(begun, { during, result, cannot, ...(noCommit ? { next: "git.commit(message)" } : {}) });
}

async function refuseMainline(
  git: Git,
  { each, mainline, cannot }: {
    readonly each: readonly string[];
    readonly mainline: number | undefined;
    readonly cannot: string;
  },
): Promise<void> {
  const { stdout } = await git.run(["rev-list", "--no-walk=unsorted", "--parents", "--stdin"], {
    input: each.map((hash) => `${hash}\n`).join(""),
  });
  for (const line of stdout.split("\n")) {
    const [hash = "", ...parents] = line.split(" "), which = each.length === 1 ? "the commit" : hash.slice(0, SHORT);
    if (parents.length > 1 && mainline === undefined) {
      throw advised(
        new Error(`${cannot}: ${which} is a merge`),
        "pass {mainline: 1} for its changes against its first parent",
      );
    }
    if (mainline !== undefined && mainline > Math.max(1, parents.length)) {
      throw new Error(`${cannot}: mainline is ${mainline}, and ${which} has ${counted(parents.length, "parent")}`);
    }
  }
}

interface Begun {
  readonly git: Git;
  readonly author: Readonly<Record<string, string>>;
  readonly was: string;
  readonly status: Awaited<ReturnType<typeof readStatus>>;
}

async function begin(env: EnvironmentView, call: Call, cannot: string): Promise<Begun> {
  const git = await Git.of(env, call);
  const status = await readStatus(git);
  await refuseDuring(git, status, cannot);
  const author = await committer(git);
  const was = status.commit;
  if (was === null) throw await refError(git, { cannot, stderr: null, refs: [] });
  return { git, author, was, status };
}

async function run({ git, author }: Pick<Begun, "git" | "author">, args: readonly string[]): Promise<GitResult> {
  return await git.run(args, { changes: "workspace", env: author });
}

/** Conflicts are a result. */
async function stateAfter(
  { git, author, was }: Omit<Begun, "status">,
  { during, result, cannot, known = [], next, saved }: {
    readonly during: During;
    /** These commits existed before the call, as `was` did. */
    readonly known?: readonly string[];
    readonly result: GitResult;
    readonly cannot: string;
    readonly next?: string;
    readonly saved?: string | undefined;
  },
): Promise<Sequenced> {
  const stopped = result.code !== 0;
  const signed = stopped || !await isOn(git, "commit.gpgSign")
    ? null
    : await (await import("./commit_programs.ts")).signNew(git, {
      author,
      since: [was, ...known],
      name: NAMES[during],
    });
  const state = await readState(git, next);
  if (stopped && !state.conflicts && state.during === undefined) throw gitRefusal(git, result, cannot);
  const why = stopped && !state.conflicts ? { why: gitReason(git, result).why } : {};
  const then = state.conflicts && !state.next ? { next: "edit the files, git.add them, then git.commit(message)" } : {};
  return {
    ...{ ...state, ...then, was, ...why },
    ...(saved === undefined ? {} : { saved }),
    ...(signed === null ? {} : { signed }),
  };
}

function stepOf(during: During, steps: SequenceSteps, namesCommit: boolean): keyof SequenceSteps | null {
  const asked = (["continue", "abort", "skip"] as const).filter((step) => steps[step]);
  if (asked.length + Number(namesCommit) === 1) return asked[0] ?? null;
  const [why, advice] = asked.length === 0
    ? ["no commit is named", `name one, or pass continue${during === "merge" ? "" : ", skip"} or abort`]
    : [
      `a commit, ${during === "merge" ? "continue and abort" : "continue, abort and skip"} exclude each other`,
      "pass one",
    ];
  throw advised(new TypeError(`Cannot ${during}: ${why}`), advice);
}

async function goOn(env: EnvironmentView, during: During, step: keyof SequenceSteps): Promise<Sequenced> {
  const git = await Git.of(env, [NAMES[during], { [step]: true }]);
  const status = await readStatus(git, { limit: 100_000 });
  const cannot = `Cannot ${step} the ${during}`;
  if (status.during !== during) {
    if (status.during === undefined) throw new Error(`${cannot}: no ${during} is unfinished`);
    throw advised(new Error(`${cannot}: a ${status.during} is unfinished instead`), await wayOn(git, status));
  }
  const author = await committer(git);
  const conflicts = status.files.filter(({ conflict }) => conflict).map(({ path }) => path);
  if (step === "continue" && conflicts.length > 0) {
    throw advised(
      new Error(`${cannot}: conflicts remain in ${git.places(conflicts)}`),
      "edit the files and git.add them",
    );
  }
  if (step === "continue" && conflicts.length === 0 && await isRefused(git, status)) {
    throw advised(new Error(`${cannot}: git did not apply its next commit`), await wayOn(git, status));
  }
  const began = await beginning(git, during);
  let merging: readonly string[] = [];
  if (step === "abort") {
    const target = began ?? "HEAD";
    await refuseIncoming(git, { incoming: [{ commit: target }], base: target, cannot });
  } else {
    const each = await commitsLeft(git, during, cannot);
    const incoming: IncomingNames[] = [{ each, reverted: during === "revert" }];
    if (step === "skip") incoming.push({ commit: "HEAD" });
    merging = await refuseIncoming(git, { incoming, cannot });
  }
  const saved = step === "continue" ? undefined : await saveWork(git, await uncommitted(git), cannot);
  const was = began ?? status.commit ?? "";
  const other = during === "merge" ? "MERGE_HEAD" : during === "rebase" ? "rebase-merge/onto" : null;
  const known = other === null ? "" : await smallTextFile(join(git.repository.gitDir, other)) ?? "";
  const args = during === "merge" && step === "continue"
    ? ["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit", "--cleanup=strip"]
    : [...merging, during, `--${step}`];
  const result = await run({ git, author }, args);
  return await stateAfter({ git, author, was }, {
    ...{ during, result, cannot, saved },
    known: known.split("\n").filter((one) => /^[0-9a-f]{40,64}$/.test(one)),
  });
}

/** Another program may have written the list of steps, so rejects with Error if a step or a strategy could run a
 * program. */
async function commitsLeft(git: Git, during: During, cannot: string): Promise<readonly string[]> {
  const { gitDir } = git.repository;
  const read = async (path: string): Promise<string> => {
    const there = await Deno.lstat(join(gitDir, path)).then(() => true, () => false);
    const text = there ? await smallTextFile(join(gitDir, path)) : "";
    if (text === null) {
      throw advised(
        new Error(`${cannot}: ${path} is not a regular file of at most 1 MiB that Vis can read`),
        "leave it to the user",
      );
    }
    return text;
  };
  if (during === "merge") return [];
  const folder = during === "rebase" ? "rebase-merge" : "sequencer";
  if (during === "rebase" && (await read("rebase-merge/onto")).trim() === "") {
    throw advised(new Error(`${cannot}: it began as git am or with the apply backend`), "leave it to the user");
  }
  const todo = during === "rebase" ? await read(`${folder}/git-rebase-todo`) : await read(`${folder}/todo`);
  const wrong = todo.split("\n").find((line) => !STEP.test(line));
  if (wrong !== undefined) {
    const shown = wrong.trim().slice(0, SHOWN_STEP);
    throw advised(
      new Error(`${cannot}: its step "${shown}" runs a program or is unknown to Vis`),
      "leave it to the user",
    );
  }
  const strategies = during === "rebase"
    ? [await read(`${folder}/strategy`)]
    : [...(await read(`${folder}/opts`)).matchAll(/^\s*strategy\s*=\s*(.*)$/gm)].map(([, name = ""]) => name);
  const written = strategies.map((one) => one.trim()).filter((one) => one !== "");
  const set = git.settings.filter(({ section, key }) => section === "pull" && key === "twohead");
  const used = written.length > 0 || todo.trim() === "" ? written : set.map(({ value }) => value.trim());
  const other = used.find((one) => !BUILT_IN.has(one));
  if (other !== undefined) {
    throw advised(
      new Error(`${cannot}: its strategy ${other} could be a program of the repository`),
      "leave it to the user",
    );
  }
  const hashes = todo.split("\n").flatMap((line) =>
    /^[ \t]*\w+[ \t]+(?:-[cC][ \t]+)?([0-9a-f]{7,64})\b/.exec(line)?.[1] ?? []
  );
  const commits: string[] = [];
  for (const hash of new Set(hashes)) commits.push(await commitHash(git, hash, cannot));
  return commits;
}

async function beginning(git: Git, during: During): Promise<string | null> {
  const paths = {
    merge: [],
    rebase: ["rebase-merge/orig-head", "rebase-apply/orig-head"],
    "cherry-pick": ["sequencer/head"],
    revert: ["sequencer/head"],
  }[during];
  for (const path of paths) {
    const hash = (await smallTextFile(join(git.repository.gitDir, path)))?.trim() ?? "";
    if (/^[0-9a-f]{40,64}$/.test(hash)) return hash;
  }
  return null;
}

async function describedRef(git: Git, ref: string): Promise<string | null> {
  const { stdout } = await git.run([
    "rev-parse",
    "--symbolic-full-name",
    "--verify",
    "--quiet",
    "--end-of-options",
    ref,
  ]);
  const [, kind, name] = /^refs\/(heads|tags|remotes)\/(.+)$/.exec(stdout.trim().split("\n").at(-1) ?? "") ?? [];
  if (name === undefined) return null;
  return kind === "heads" ? `branch '${name}'` : kind === "tags" ? `tag '${name}'` : `remote-tracking branch '${name}'`;
}

async function commitsIn(git: Git, range: string, cannot: string): Promise<readonly string[]> {
  const limit = `--max-count=${MOST_COMMITS + 1}`;
  const { code, stdout, stderr } = await git.run(["rev-list", "--reverse", limit, "--end-of-options", range, "--"]);
  if (code !== 0) throw await refError(git, { cannot, stderr, refs: [range] });
  const hashes = stdout.split("\n").filter((line) => line !== "");
  if (hashes.length > MOST_COMMITS) {
    throw advised(
      new Error(`${cannot}: ${range} has more than ${MOST_COMMITS} commits, the limit`),
      "name a shorter range",
    );
  }
  return hashes;
}
