import { upTo } from "../confine.ts";
import { type FolderEntry, FolderTooLarge, fromTop, type Tree } from "../tree/tree.ts";
import { type GlobSegment, matchRun, SEGMENTS, tokensOf } from "./glob_matcher.ts";
import { advised, firstBytes, parseGitConfig } from "@vis/extension";
import { homedir } from "node:os";
import { join, posix } from "node:path";

export interface WalkEntry {
  /** The path uses `/` and begins with the caller's spelling of the start. */
  readonly path: string;
  readonly real: string;
  readonly type: "file" | "dir" | "link";
}

interface WalkOptions {
  readonly tree: Tree;
  readonly start: string;
  readonly named?: string;
  readonly all: boolean;
  readonly depth: number;
}

export const NEVER: readonly string[] = [".git", ".hg", ".svn"];
const REST_EVERY = 32;
const MAX_ENTRIES = 500_000;

interface OpenFolder {
  readonly path: string;
  readonly real: string;
  readonly rules: IgnoreRules | null;
  readonly entries: readonly FolderEntry[];
  next: number;
}

/** A folder comes before its contents. Yields null after a while without an entry, so that the caller can pause. */
export function* walk({ tree: from, start, named = start, all, depth }: WalkOptions): Generator<WalkEntry | null> {
  using tree = from.held(start);
  let count = 0;
  let passed = 0;
  const below = (folder: string, name: string): string => folder === "" ? name : `${folder}/${name}`;
  const realBelow = (folder: string, name: string): string => plainPath(tree, below(folder, name));
  const opened = (at: Pick<OpenFolder, "path" | "real">, rules: IgnoreRules | null): OpenFolder => {
    const entries = entriesOf(tree, at.real);
    return { ...at, entries, rules: rules?.below(at.real, entries) ?? null, next: 0 };
  };
  const first = { path: named === "." ? "" : named, real: start === "." ? "" : start };
  const open = [opened(first, all ? null : rulesAbove(tree, start))];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const entry = at.entries[at.next++];
    if (entry === undefined) {
      open.pop();
      continue;
    }
    if (NEVER.includes(entry.name)) continue;
    const real = realBelow(at.real, entry.name);
    if (at.rules?.ignores(real, entry.kind === "dir")) {
      if (++passed % REST_EVERY === 0) yield null;
      continue;
    }
    if (++count > MAX_ENTRIES) {
      throw advised(
        new RangeError(
          `Cannot list the files of ${named}: it has more than ${MAX_ENTRIES} files and folders, the limit`,
        ),
        "name a folder in it",
      );
    }
    if (entry.kind === "other") continue;
    const path = below(at.path, entry.name);
    yield { path, real, type: entry.kind };
    if (entry.kind === "dir" && open.length < depth) open.push(opened({ path, real }, at.rules));
  }
}

export function plainPath({ below }: Pick<Tree, "below">, path: string): string {
  if (!path.startsWith("..")) return path;
  return posix.relative(`/${below}`, posix.join(`/${below}`, path));
}

/** Returns null if the rules ignore `start` or a folder between the workspace and `start`, because the caller named
 * `start` on purpose. */
export function rulesAbove(tree: Tree, start: string): IgnoreRules | null {
  const top = IgnoreRules.of(tree), whole = fromTop(tree, start);
  let rules = top;
  if (whole === ".") return rules;
  const parts = whole.split("/");
  for (let at = 0; at < parts.length; at++) {
    const above = plainPath(tree, `${upTo(tree)}${parts.slice(0, at).join("/")}`.replace(/\/$/, ""));
    rules = rules.below(above, entriesOf(tree, above));
    const next = plainPath(tree, `${upTo(tree)}${parts.slice(0, at + 1).join("/")}`);
    if (!rules.ignores(next, true)) continue;
    if (!`${tree.below}/`.startsWith(`${parts.slice(0, at + 1).join("/")}/`)) return null;
    rules = top;
  }
  return rules;
}

export function entriesOf(tree: Tree, folder: string): readonly FolderEntry[] {
  try {
    return [...tree.entries(folder || ".")].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof FolderTooLarge) throw error;
    return [];
  }
}

export function sizeAt(tree: Tree, path: string): number {
  try {
    return tree.look(path)?.size ?? 0;
  } catch {
    return 0;
  }
}

function readSmall(tree: Tree, path: string, { most }: { readonly most: number }): string | null {
  try {
    using file = tree.open(path);
    if (file.facts.size > most) return null;
    const bytes = new Uint8Array(file.facts.size);
    return new TextDecoder().decode(bytes.subarray(0, file.read(bytes)));
  } catch {
    return null;
  }
}

const MAX_BYTES = 256 * 1024;
const ALWAYS = ["node_modules/", "__pycache__/", ".venv/"];

interface RuleSet {
  readonly base: string;
  readonly rules: IgnoreList;
}

export class IgnoreRules {
  readonly #tree: Tree;
  readonly #sets: readonly RuleSet[];

  constructor(tree: Tree, sets: readonly RuleSet[]) {
    this.#tree = tree;
    this.#sets = sets;
  }

  static of(tree: Tree, globalLines: readonly string[] = globalIgnoreLines()): IgnoreRules {
    const sets = [{ base: "", rules: new IgnoreList([...ALWAYS, ...globalLines]) }];
    return new IgnoreRules(tree, sets).#with("", `${upTo(tree)}.git/info/exclude`);
  }

  below(folder: string, entries: readonly FolderEntry[]): IgnoreRules {
    if (!entries.some(({ name, kind }) => name === ".gitignore" && kind === "file")) return this;
    const base = fromTop(this.#tree, folder || ".");
    return this.#with(base === "." ? "" : `${base}/`, folder === "" ? ".gitignore" : `${folder}/.gitignore`);
  }

  ignores(path: string, isFolder: boolean): boolean {
    let ignored = false;
    const whole = fromTop(this.#tree, path);
    for (const { base, rules } of this.#sets) {
      ignored = rules.decide(whole.slice(base.length), isFolder) ?? ignored;
    }
    return ignored;
  }

  #with(base: string, file: string): IgnoreRules {
    const text = readSmall(this.#tree, file, { most: MAX_BYTES });
    const rules = new IgnoreList((text ?? "").split(/\r?\n/));
    return rules.isEmpty ? this : new IgnoreRules(this.#tree, [...this.#sets, { base, rules }]);
  }
}

interface Rule {
  readonly not: boolean;
  readonly foldersOnly: boolean;
  readonly name: string | null;
  readonly segments: readonly GlobSegment[];
}

const MAX_RULES = 2_000;
const MAX_RULE = 500;

/** gitignore(5) defines the lines. The repository supplies the rules, so the time must not grow exponentially. */
export class IgnoreList {
  readonly #rules: readonly Rule[];

  constructor(lines: readonly string[]) {
    this.#rules = lines.slice(0, MAX_RULES).flatMap(ruleOf);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** The path is relative to the list's folder. The caller checks the rules of parent folders. */
  decide(path: string, isFolder: boolean): boolean | null {
    const parts = path.split("/");
    const name = parts.at(-1);
    for (let at = this.#rules.length - 1; at >= 0; at--) {
      const rule = this.#rules[at];
      if (!rule || (rule.foldersOnly && !isFolder)) continue;
      if (rule.name !== null ? rule.name === name : matchRun(rule.segments, parts, SEGMENTS)) return !rule.not;
    }
    return null;
  }
}

function ruleOf(line: string): Rule[] {
  if (line.startsWith("#") || line.length > MAX_RULE) return [];
  const text = withoutEnd(line);
  const not = text.startsWith("!");
  const pattern = not ? text.slice(1) : text;
  const foldersOnly = pattern.endsWith("/");
  const plain = foldersOnly ? pattern.slice(0, -1) : pattern;
  const parts = plain.split("/").filter((part) => part !== "");
  const [first] = parts;
  if (first === undefined) return [];
  if (!plain.includes("/")) {
    const name = /[*?[\\]/.test(first) ? null : first;
    return [{ not, foldersOnly, name, segments: ["**", tokensOf(first)] }];
  }
  const segments = parts.map((part): GlobSegment => part === "**" ? "**" : tokensOf(part));
  return [{ not, foldersOnly, name: null, segments: parts.at(-1) === "**" ? [...segments, tokensOf("*")] : segments }];
}

function withoutEnd(line: string): string {
  const text = line.trimEnd();
  const slashes = text.length - text.replace(/\\{1,500}$/, "").length;
  return slashes % 2 === 1 && text.length < line.length ? `${text} ` : text;
}

export function globalIgnoreLines(home: string = homedir()): readonly string[] {
  if (home === "") return [];
  const named = ["/.gitconfig", "/.config/git/config"].map((name) => excludesFile(readText(`${home}${name}`), home))
    .find((path) => path !== null);
  return readText(named ?? join(home, ".config/git/ignore")).split(/\r?\n/);
}

function excludesFile(config: string, home: string): string | null {
  const found = parseGitConfig(config).find(({ section, key }) => section === "core" && key === "excludesfile");
  return found ? found.value.replace(/^~(?=\/)/, home) : null;
}

function readText(path: string): string {
  try {
    const bytes = firstBytes(Deno.realPathSync(path), MAX_BYTES + 1);
    return bytes !== null && bytes.length <= MAX_BYTES ? new TextDecoder().decode(bytes) : "";
  } catch {
    return "";
  }
}
