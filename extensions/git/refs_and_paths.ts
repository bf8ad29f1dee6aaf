import { lstatSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { advised, type HostFunction, nearestNames } from "@vis/extension";
import { Git, gitSays, plainReason } from "./git.ts";
import { inRepository, topOf } from "./repository.ts";

const MAX_REFS = 2000;
const MAX_PATHS = 5_000;
const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

const MAX_REF_CHARS = 1000;

export function checkedRef(ref: string, { range = false }: { readonly range?: boolean } = {}): string {
  const fault = refFault(ref) ?? (!range && ref.includes("..") ? 'it contains "..", as a range does' : null);
  if (fault === null) return ref;
  const given = JSON.stringify(ref.slice(0, 100));
  throw new TypeError(`Cannot use ${given} as the name of a commit, branch or tag: ${fault}`);
}

function refFault(ref: string): string | null {
  if (ref === "") return "it is empty";
  if (ref.startsWith("-")) return "it begins with a dash, like an option of git";
  if (ref.length > MAX_REF_CHARS) return `it has ${ref.length} characters, and the limit is ${MAX_REF_CHARS}`;
  // deno-lint-ignore no-control-regex
  return /[\x00-\x1f\x7f]/.test(ref) ? "it contains a control character" : null;
}

export async function commitHash(git: Git, ref: string, cannot: string): Promise<string> {
  const { code, stdout } = await git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`]);
  const hash = stdout.trim().split("\n").at(-1) ?? "";
  if (code === 0 && /^[0-9a-f]{40,64}$/.test(hash)) return hash;
  const type = await typeOf(git, ref);
  if (type !== null) throw advised(new Error(`${cannot}: ${ref} is a ${type}`), "name a commit, branch or tag");
  throw await refError(git, { cannot, stderr: null, refs: [ref] });
}

async function typeOf(git: Git, ref: string): Promise<string | null> {
  const { code, stdout } = await git.run(["cat-file", "-t", ref]);
  const type = stdout.trim();
  return code !== 0 ? null : type === "blob" ? "file" : type === "tree" ? "folder" : "tag of a file or folder";
}

export class NoCommitError extends Error {
  override readonly name = "NoCommitError";
}

export async function currentBranch(git: Git): Promise<string> {
  const { stdout } = await git.run(["symbolic-ref", "--quiet", "HEAD"]);
  return /^refs\/heads\/(.+)/.exec(stdout.trim())?.[1] ?? "";
}

export async function missingRef(
  git: Git,
  { cannot, name, kind }: { readonly cannot: string; readonly name: string; readonly kind: "branch" | "tag" },
): Promise<Error> {
  const known = await refsOf(git, kind === "branch" ? ["refs/heads"] : ["refs/tags"]);
  return new Error(`${cannot}: the repository has no ${kind} ${name}${nearest(name, known)}`);
}

async function refsOf(git: Git, under: readonly string[] = []): Promise<readonly string[]> {
  const { stdout } = await git.run(["for-each-ref", `--count=${MAX_REFS}`, "--format=%(refname:short)", ...under]);
  return stdout.split("\n").filter((name) => name !== "");
}

function nearest(name: string, known: readonly string[]): string {
  const names = nearestNames(name, known);
  return names.length === 0 ? "" : ` (the nearest ${names.length === 1 ? "is" : "are"} ${names.join(", ")})`;
}

export async function refError(
  git: Git,
  { cannot, stderr, refs }: {
    readonly cannot: string;
    /** Null means that the caller already knows the name to be invalid. */
    readonly stderr: string | null;
    readonly refs: readonly string[];
  },
): Promise<Error> {
  if (stderr !== null && !gitSays("noRef", stderr)) return new Error(`${cannot}: ${plainReason(stderr)}`);
  const known = await refsOf(git);
  const unborn = (await git.run(["rev-parse", "--verify", "--quiet", "HEAD"])).code !== 0;
  if (known.length === 0 && unborn) return new NoCommitError(`${cannot}: the repository has no commit yet`);
  const ends = refs.flatMap((ref) => ref.split(/\.{2,3}/)).filter((ref) => ref !== "" && ref !== "HEAD");
  for (const wanted of ends) {
    if (await typeOf(git, wanted.replace(/^\^/, "")) !== null) continue;
    const short = /^[0-9a-f]{4,}(?=$|[~^:@])/i.exec(wanted)?.[0];
    if (short !== undefined && await isAmbiguous(git, short)) {
      return advised(new Error(`${cannot}: several hashes begin with ${short}`), "give more characters of the hash");
    }
    const side = SIDES.find(([name]) => wanted.startsWith(name)) && otherSide(git);
    if (side) {
      return advised(
        new Error(`${cannot}: the repository has no ${wanted}`),
        `${side} is the other side of a conflict`,
      );
    }
    return new Error(`${cannot}: the repository has no ${wanted}${nearest(wanted, known)}`);
  }
  return unborn
    ? new NoCommitError(`${cannot}: this branch has no commit yet`)
    : new Error(`${cannot}: ${plainReason(stderr ?? "")}`);
}

const SIDES: readonly (readonly [file: string, side: string])[] = [
  ["MERGE_HEAD", "MERGE_HEAD"],
  ["REBASE_HEAD", "REBASE_HEAD"],
  ["CHERRY_PICK_HEAD", "CHERRY_PICK_HEAD"],
  ["REVERT_HEAD", "REVERT_HEAD~1"],
];

function otherSide({ repository: { gitDir } }: Git): string | undefined {
  return SIDES.find(([file]) => lstatSync(join(gitDir, file), { throwIfNoEntry: false }) !== undefined)?.[1];
}

async function isAmbiguous(git: Git, short: string): Promise<boolean> {
  const { stdout } = await git.run(["rev-parse", `--disambiguate=${short}`]);
  return stdout.trim().includes("\n");
}

/** The result begins with `--` even without paths, so that git cannot read an earlier argument as a path. */
export function pathArguments(paths: string | readonly string[] | undefined): readonly string[] {
  const list = paths === undefined ? [] : typeof paths === "string" ? [paths] : paths;
  for (const path of list) {
    if (path === "") throw advised(new TypeError('Cannot use "" as a path: it is empty'), '"." is the whole workspace');
    if (path.includes("\0")) {
      throw advised(
        new TypeError(`Cannot use ${JSON.stringify(path)} as a path: it contains U+0000`),
        "remove this character",
      );
    }
    if (isPrinted(path)) {
      throw advised(new TypeError(`Cannot use ${path}: its name is not UTF-8`), "name its folder instead");
    }
  }
  return ["--", ...list];
}

export async function missingFile(git: Git, path: string, cannot: string, commit?: string): Promise<Error> {
  const list = commit === undefined
    ? ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    : ["ls-tree", "-r", "--name-only", "--full-tree", commit];
  const { stdout } = await git.run(list);
  const known = stdout.split("\n").filter((name) => name !== "").slice(0, MAX_PATHS).map(nameOf).map((name) =>
    git.place(name)
  );
  const shown = git.place(path);
  const isThere = commit === undefined &&
    lstatSync(join(git.repository.workspace, path), { throwIfNoEntry: false }) !== undefined;
  if (isThere) return advised(new Error(`${cannot}: git does not track ${shown}`), "git.add it first");
  const where = commit === undefined ? "" : ` in ${commit}`;
  return new Error(`${cannot}: there is no file ${shown}${where}${nearest(shown, known)}`);
}

export function nameOf(printed: string): string {
  if (!printed.startsWith('"')) return printed;
  const bytes: number[] = [];
  const inner = printed.slice(1, -1);
  for (let at = 0; at < inner.length; at++) {
    const char = inner[at] ?? "";
    if (char !== "\\") {
      bytes.push(...new TextEncoder().encode(char));
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(at + 1, at + 4))?.[0];
    bytes.push(octal === undefined ? ESCAPES[inner[at + 1] ?? ""] ?? 0 : Number.parseInt(octal, 8));
    at += octal === undefined ? 1 : 3;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
  } catch {
    return printed;
  }
}

export function printedName(name: string): string {
  if (isPrinted(name) || !/^"|[\\\n\r\t]/.test(name)) return name;
  const escaped = name.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll(
    "\t",
    "\\t",
  );
  return `"${escaped}"`;
}

export function isPrinted(name: string): boolean {
  return /^".*\\[2-3][0-7]{2}.*"$/s.test(name);
}

export function columns(line: string): readonly string[] {
  return line.split("\t");
}

/** Git runs at the root of the repository, but the paths of the returned function are relative to the workspace. */
export function inFolder(run: HostFunction, { paths = false } = {}): HostFunction {
  return async (around, ...options) => {
    const repo = repoOf(options);
    const env = repo === undefined ? around : await inRepository(around, repo);
    const args = options.map((one: unknown) => {
      if (!isRecord(one)) return one;
      const { repo: _, ...rest } = one;
      return rest;
    });
    const { workspace } = env, root = topOf(env);
    if (root === workspace) return await run(env, ...args);
    const toTop = (path: string): string =>
      path.startsWith('"') ? path : relative(root, resolve(workspace, path)) || ".";
    const all = (named: unknown): unknown =>
      Array.isArray(named) ? named.map((one) => all(one)) : typeof named === "string" ? toTop(named) : named;
    const given = args.map((arg: unknown, at) => {
      if (at === 0 && paths) return all(arg);
      return isRecord(arg) && arg["paths"] !== undefined ? { ...arg, paths: all(arg["paths"]) } : arg;
    });
    return fromTop(await run(env, ...given), (path) => relative(workspace, resolve(root, path)) || ".");
  };
}

export function repoOf(args: readonly unknown[]): string | undefined {
  return args.map((one) => isRecord(one) ? one["repo"] : undefined).find((repo) => typeof repo === "string");
}

const WITH_NAMES: readonly string[] = ["files", "conflicts", "origins", "lost"];

function fromTop(result: unknown, place: (path: string) => string): unknown {
  if (!isRecord(result)) return result;
  const named = (name: unknown): unknown => {
    if (typeof name === "string") return name.startsWith('"') ? name : `${place(name)}${name.endsWith("/") ? "/" : ""}`;
    if (!isRecord(name)) return name;
    const { path, from } = name;
    return {
      ...name,
      ...(typeof path === "string" ? { path: named(path) } : {}),
      ...(typeof from === "string" ? { from: named(from) } : {}),
    };
  };
  const mapped = Object.entries(result).flatMap(([key, value]) =>
    WITH_NAMES.includes(key) && Array.isArray(value) ? [[key, value.map(named)]] : []
  );
  return { ...result, ...Object.fromEntries(mapped) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
