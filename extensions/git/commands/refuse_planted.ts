import { basename, dirname, join, relative } from "node:path";
import type { Git } from "../program/git.ts";
import { RecordReader } from "../output/record_reader.ts";
import { inside } from "../program/repository.ts";

const PARTS = ["head", "commondir", "objects", "refs"] as const;
const ANY = /(?:^|\/)(?:head|commondir|objects|refs)(?:\/|$)/i;

/** Throws Error if the files of a commit, or others that come with it (`names`), would make a folder below `place` one
 * that git takes for a repository, whose settings can run commands when somebody calls git there, or change one. What
 * is already in the workspace, as HEAD has it, does not count. */
export async function refusePlanted(
  git: Git,
  { commit, names = [], place, cannot }: {
    readonly commit: string;
    readonly names?: readonly string[];
    readonly place: string;
    readonly cannot: string;
  },
): Promise<void> {
  const { workspace } = git.repository;
  const refused = (folder: string): Error =>
    new Error(
      `Cannot ${cannot}: git would take ${folder || "its top folder"} for a repository, whose settings can run ` +
        "commands; leave it to the user",
    );
  for (let at = place; at !== workspace; at = dirname(at)) { // a new folder, which may be called objects
    const folder = dirname(at), there = await partsOf(folder), made = basename(at).toLowerCase();
    if (isPart(made) && isRepository(new Set([...there, made]))) throw refused(relative(workspace, folder));
  }
  for (const [folder, comes] of await partsIn(git, { commit, names })) {
    const there = await partsOf(join(place, folder));
    if (!isRepository(new Set([...there, ...comes]))) continue;
    const changed = names.some((name) => inside(folder === "" ? "/" : `/${folder}`, `/${name}`));
    if (changed || !await isKnown(git, { commit, folder })) throw refused(folder);
  }
}

/** Whether a folder is a repository in the workspace too, and the commit does not change it. */
async function isKnown(
  git: Git,
  { commit, folder }: { readonly commit: string; readonly folder: string },
): Promise<boolean> {
  if (!isRepository(await partsOf(join(git.repository.workspace, folder)))) return false;
  const trees = ["HEAD", commit].map((one) => folder === "" ? `${one}^{tree}` : `${one}:${folder}`);
  const { code, stdout } = await git.run(["rev-parse", ...trees]);
  const [now, then] = stdout.split("\n");
  return code === 0 && now === then;
}

function isRepository(parts: ReadonlySet<string>): boolean {
  return parts.has("head") && (parts.has("commondir") || (parts.has("objects") && parts.has("refs")));
}

/** For each folder in a commit, which parts of a repository it has; nothing for an unknown commit. */
async function partsIn(
  git: Git,
  { commit, names }: { readonly commit: string; readonly names: readonly string[] },
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  const take = (path: string): void => {
    if (!ANY.test(path)) return;
    const way = path.split("/");
    way.forEach((name, at) => {
      const part = name.toLowerCase(), folder = way.slice(0, at).join("/");
      if (isPart(part)) found.set(folder, (found.get(folder) ?? new Set()).add(part));
    });
  };
  names.forEach(take);
  const reader = new RecordReader(take, { separator: 0 });
  const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--"];
  await git.run(args, { take: (chunk) => reader.push(chunk) });
  reader.end();
  return found;
}

function isPart(name: string): boolean {
  return PARTS.some((part) => part === name);
}

/** The same for a folder on the disk. */
async function partsOf(folder: string): Promise<ReadonlySet<string>> {
  const parts = ["HEAD", ...PARTS.slice(1)];
  const there = await Promise.all(parts.map((name) => Deno.lstat(join(folder, name)).then(() => true, () => false)));
  return new Set(PARTS.filter((_, at) => there[at]));
}
