import { type Facts, isAtOrBelow, nameBytes, nameText, type OpenFolder, type Tree } from "./tree/tree.ts";
import { advised, isWithin, shorten, someOf } from "@vis/extension";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

export const MAX_DEPTH = 200;
const SHOWN_CHARS = 100;

export interface WorkspacePath {
  /** The path uses `/` and leads through no link. The path is absolute in an added folder, and else relative to the
   * workspace, with `..` in the repository around it. */
  readonly real: string;
  readonly path: string;
  readonly info: Facts | null;
}

export interface Workspace {
  readonly root: string;
  readonly tree: Tree;
  /** The user has allowed these changes of paths outside of the workspace, for this call. */
  readonly allowed?: ReadonlyMap<string, string>;
  readonly readFolders?: readonly string[];
}

const MAX_NAMED = 20;

export class OutsideWorkspace extends RangeError {
  override readonly name = "OutsideWorkspace";

  /** `folder` is the added folder of the paths, or "" for the repository around the workspace. */
  constructor(readonly changes: ReadonlyMap<string, string>, readonly folder: string, readonly shown: string) {
    const paths = [...changes.keys()];
    const where = folder === "" ? "outside the workspace" : `in ${folder}, an added folder`;
    super(`Cannot change ${someOf(paths, MAX_NAMED)}: ${paths.length === 1 ? "it is" : "they are"} ${where}`);
  }
}

export function confine(workspace: Workspace, path: string): WorkspacePath {
  const named = namedIn(workspace, path);
  const inside = slashed(named), info = workspace.tree.lookUnlinked(inside);
  if (info !== null) return { real: inside, path: inside, info };
  const { real, rest } = deepest(workspace, { wanted: resolve(workspace.root, named), path });
  return placeAt(workspace, { named, path, absolute: rest === "" ? real : join(real, rest) });
}

function confineEntry(workspace: Workspace, path: string): WorkspacePath {
  const named = namedIn(workspace, path);
  if (named === "") {
    throw advised(new RangeError(`Cannot change ${path}: it is the workspace itself`), "name paths in it");
  }
  const whole = resolve(workspace.root, named);
  const { real, rest } = deepest(workspace, { wanted: dirname(whole), path });
  return placeAt(workspace, { named, path, absolute: join(real, rest, basename(whole)) });
}

/** The path can be outside of the workspace; `changeFiles` asks about such a path. */
export function confineForWrite(workspace: Workspace, path: string): WorkspacePath {
  return refuseFixed(workspace, confine(workspace, path));
}

export function confineEntryForWrite(workspace: Workspace, path: string): WorkspacePath {
  return refuseFixed(workspace, confineEntry(workspace, path));
}

export function movedMeanwhile(path: string): RangeError {
  return advised(new RangeError(`Cannot use ${path}: a part of its path has become a link`), "call the function again");
}

const OF_EXTENSIONS =
  "write the extension to a folder outside .vis/, and ask the user to move it to .vis/extensions/ and run vis extensions trust";

function refuseFixed(workspace: Workspace, place: WorkspacePath): WorkspacePath {
  for (const parts of [place.path.split("/"), place.real.split("/")]) {
    const at = parts.findIndex(isGuarded);
    if (at >= 0) {
      const isExtension = parts[at] === ".vis" && parts[at + 1] === "extensions";
      const advice = isExtension ? OF_EXTENSIONS : "ask the user to change them";
      throw advised(
        new RangeError(`Cannot change ${place.path}: ${parts[at]}/ and files below it are protected`),
        advice,
      );
    }
  }
  if (place.real === ".") {
    throw advised(new RangeError("Cannot change .: it is the workspace itself"), "name a file in it");
  }
  if (/^\.\.(?:\/\.\.)*$/.test(place.real)) {
    throw new RangeError(`Cannot change ${place.path}: the workspace is inside it`);
  }
  if (isAbsolute(place.real)) refuseFolder(workspace, place.real);
  return place;
}

function refuseFolder(workspace: Workspace, path: string): void {
  const { root, tree, readFolders = [] } = workspace, folder = addedFolderOf(workspace, path);
  if (isAtOrBelow(root.replaceAll(sep, "/"), path)) {
    throw new RangeError(`Cannot change ${path}: the workspace is inside it`);
  }
  if (readFolders.some((one) => isAtOrBelow(one, path))) {
    throw advised(
      new RangeError(`Cannot change ${path}: it is an added folder, or contains one`),
      "name paths in the folder",
    );
  }
  if (lookOrNull(tree, folder)?.kind !== "dir") {
    throw new RangeError(`Cannot change ${path}: there is no folder ${folder}`);
  }
}

/** Returns the workspace as "", the repository around it as "..", and else an added folder. */
export function regionOf(workspace: Pick<Workspace, "readFolders">, real: string): string {
  return isAbsolute(real) ? addedFolderOf(workspace, real) : real.startsWith("../") ? ".." : "";
}

function namedIn(workspace: Workspace, path: string): string {
  const { root, readFolders = [] } = workspace;
  if (path.includes("\0")) {
    throw advised(
      new TypeError(`Cannot use the path ${shortened(path)}: it has a NUL character`),
      "remove the character",
    );
  }
  // Another text for the bytes of a name could hide a guarded name, so each name has one text.
  const named = relative(root, resolve(root, nameText(nameBytes(path))));
  if (readFolders.length === 0 && !isAround(workspace, resolve(root, named))) throw outside(workspace, path);
  if (named.split(sep).length > MAX_DEPTH) {
    const { length } = named.split(sep);
    throw advised(
      new RangeError(`Cannot use the path ${shortened(path)}: it has ${length} names, and the limit is ${MAX_DEPTH}`),
      "use fewer folders",
    );
  }
  return named;
}

function shortened(path: string): string {
  return JSON.stringify(shorten(path, SHOWN_CHARS));
}

export function addedFolderOf({ readFolders = [] }: Pick<Workspace, "readFolders">, real: string): string {
  return readFolders.find((folder) => isAtOrBelow(real, folder)) ?? "";
}

export function inWorkspace(workspace: Workspace, absolute: string): string | null {
  return isAround(workspace, absolute) ? slashed(relative(workspace.root, absolute)) : null;
}

export function below(folder: string, path: string): string {
  return folder === "" ? path : path.slice(folder.length + 1);
}

function isAround(workspace: Workspace, absolute: string): boolean {
  return isWithin(absolute, topOf(workspace));
}

function placeAt(
  workspace: Workspace,
  { named, path, absolute }: { readonly named: string; readonly path: string; readonly absolute: string },
): WorkspacePath {
  const { root, tree, readFolders = [] } = workspace;
  const isAdded = !isAround(workspace, absolute);
  if (isAdded && !readFolders.some((folder) => isWithin(absolute, folder))) throw outside(workspace, path);
  const real = slashed(isAdded ? absolute : relative(root, absolute));
  try {
    const path = isAround(workspace, resolve(root, named)) ? slashed(named) : real;
    return { real, path, info: tree.look(real) };
  } catch (error) {
    throw error instanceof Deno.errors.FilesystemLoop ? movedMeanwhile(path) : error;
  }
}

function deepest(
  workspace: Workspace,
  { wanted, path }: { readonly wanted: string; readonly path: string },
): { readonly real: string; readonly rest: string } {
  try {
    return deepestOf(wanted, path);
  } catch (error) {
    const { readFolders = [] } = workspace;
    const isKnown = isAround(workspace, wanted) || readFolders.some((folder) => isWithin(wanted, folder));
    // The reason could reveal facts about files that Vis must not read.
    throw isKnown ? error : outside(workspace, path);
  }
}

function deepestOf(wanted: string, path: string): { readonly real: string; readonly rest: string } {
  for (let at = wanted;; at = dirname(at)) {
    try {
      return { real: Deno.realPathSync(at), rest: relative(at, wanted) };
    } catch (error) {
      if (error instanceof Deno.errors.FilesystemLoop) {
        throw advised(
          new RangeError(`Cannot use ${path}: it has too many links, or links in a loop`),
          "name another path",
        );
      }
      if (error instanceof Deno.errors.PermissionDenied) throw new RangeError(`Cannot use ${path}: access is denied`);
      if (error instanceof Error && "code" in error && error.code === "ENAMETOOLONG") {
        throw advised(
          new RangeError(
            `Cannot use the path ${shortened(path)}: it or one of its names is too long for the file system`,
          ),
          "shorten it",
        );
      }
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
      if (isLink(at)) throw new RangeError(`Cannot use ${path}: ${basename(at)} is a link without an existing target`);
      if (at === dirname(at)) throw error;
    }
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

function slashed(relation: string): string {
  return (sep === "/" ? relation : relation.replaceAll(sep, "/")) || ".";
}

function topOf({ root, tree: { below } }: Workspace): string {
  return below === "" ? root : resolve(root, ...below.split("/").map(() => ".."));
}

function outside(workspace: Workspace, path: string): RangeError {
  const { root, tree, readFolders } = workspace;
  const around = tree.below === "" ? "" : ` and its repository ${topOf(workspace)}`;
  const way = readFolders === undefined
    ? ""
    : ", or ask the user to start Vis with --add-dir FOLDER to open that folder";
  return advised(
    new RangeError(`Cannot use ${path}: it is outside the workspace ${root}${around}`),
    `name a path inside${way}`,
  );
}

/** A write to these folders could make git run commands, or change settings of Vis. */
const GUARDED = [".git", ".vis", "git~1", "vis~1"];
const IGNORABLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

export function isGuarded(name: string): boolean {
  return GUARDED.includes(plainName(name));
}

/** Some file systems ignore case, trailing dots and spaces, NTFS streams and invisible characters. */
function plainName(name: string): string {
  const [plain = ""] = name.normalize("NFKC").replace(IGNORABLE, "").toLowerCase().split(":");
  return plain.replace(/[. ]+$/, "");
}

const NAMES = [".git", ".vis"];
const MAX_KNOWN = 10_000;
const OF_REPOSITORY: ReadonlySet<string> = new Set(
  "head commondir objects refs config config.worktree hooks info modules worktrees packed-refs index".split(" "),
);

export class FolderGuard {
  readonly #known = new Set<string>();

  note(tree: Tree): void {
    const around = tree.below === "" ? [] : [upTo(tree)], added = tree.added?.map((folder) => `${folder}/`) ?? [];
    for (const name of ["", ...around, ...added].flatMap((folder) => NAMES.map((one) => `${folder}${one}`))) {
      const facts = lookOrNull(tree, name);
      if (facts?.kind === "dir") this.#known.add(facts.id);
    }
    for (const id of this.#known) {
      if (this.#known.size <= MAX_KNOWN) return;
      this.#known.delete(id);
    }
  }

  check(folder: OpenFolder): void {
    if (isRepository((name) => folder.look(name) !== null)) {
      throw new RangeError("A folder of its path is a repository's own folder, such as .git, which is protected");
    }
    if (!this.#known.has(folder.facts.id)) return;
    throw new RangeError("Files below .git/ and .vis/ are protected under any name");
  }

  checkRoot(tree: Tree, path: string): void {
    const added = addedFolderOf({ readFolders: tree.added ?? [] }, path), top = added === "" ? "" : `${added}/`;
    const [first = ""] = path.slice(top.length).split("/");
    if (!OF_REPOSITORY.has(plainName(first)) || !isRepository((name) => tree.look(top + name) !== null)) return;
    const which = added === "" ? "workspace" : "added folder";
    throw new RangeError(`The ${which} is a repository's own folder, such as .git, whose parts Vis does not change`);
  }

  /** A new entry must not make a folder a repository, because the settings of a repository can run commands. */
  checkNew(folder: OpenFolder, name: string): void {
    const made = plainName(name);
    if (!OF_REPOSITORY.has(made)) return;
    if (isRepository((one) => folder.look(one) !== null)) return;
    if (!isRepository((one) => one.toLowerCase() === made || folder.look(one) !== null)) return;
    throw new RangeError("Git would then take its folder for a repository, whose settings can run commands");
  }
}

function lookOrNull(tree: Tree, path: string): Facts | null {
  try {
    return tree.look(path);
  } catch {
    return null;
  }
}

export function upTo({ below }: Pick<Tree, "below">): string {
  return below === "" ? "" : "../".repeat(below.split("/").length);
}

function isRepository(has: (name: string) => boolean): boolean {
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}
