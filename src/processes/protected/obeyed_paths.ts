import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { Pace } from "../../domain/kit/concurrency.ts";
import { isWithin } from "../../domain/kit/files.ts";
import type { ObeyedPath } from "../../extension/spec.ts";
import { ClaimCache, type SettingsPlaces } from "./git_claims.ts";
import { entryKind, isFile, plainName, stepsTo } from "../_paths.ts";
import { GIT } from "./repositories.ts";
import { commandIn } from "./running_commands.ts";

export class ObeyedPaths {
  readonly #claims: ClaimCache;

  constructor(places: SettingsPlaces) {
    this.#claims = new ClaimCache(places, { withMissing: true });
  }

  /** `paths` have no links, and are relative to the workspace or absolute in a folder of `added`. `root` is the top of
   * the repository around the workspace. */
  async of(
    workspace: string,
    paths: readonly string[],
    root = workspace,
    added: readonly string[] = [],
  ): Promise<readonly ObeyedPath[]> {
    const reasons = new Map(await this.#reasons(workspace, paths, root));
    const tops = new Map<string, string>();
    for (const folder of added) {
      const own = paths.filter((path) => isAbsolute(path) && isWithin(path, folder));
      for (const path of own) tops.set(path, folder);
      if (own.length === 0) continue;
      for (const [path, reason] of await this.#reasons(folder, own, folder)) reasons.set(path, reason);
    }
    return [...reasons].map(([path, reason]) => ({ path, reason, running: commandIn(tops.get(path) ?? root) }));
  }

  async #reasons(
    workspace: string,
    paths: readonly string[],
    root: string,
  ): Promise<readonly (readonly [path: string, reason: string])[]> {
    const tops = [...foldersAround(workspace, paths)].filter((folder) => existsSync(join(folder, GIT)));
    const files = new Map<string, string>(), folders = new Map<string, string>(), pace = new Pace();
    const around = new Map<string, string>();
    for (const { path, as, reason, runs = false } of await this.#claims.all(tops, { within: root })) {
      if (pace.due) await pace.rest();
      // The file functions protect a repository itself, but not the links that lead to the repository.
      const isWay = as === "part" && entryKind(path) !== "link";
      // A word is a path if the file exists, or if git expects a program there.
      if (as === "word" && !runs && !isFile(path)) continue;
      let end = path;
      for (const step of stepsTo(path, { from: path.startsWith(`${root}/`) ? root : "/" })) {
        const plain = plainName(step.path);
        if (isWay && step.is !== "link") continue;
        if (!files.has(plain)) files.set(plain, reason);
        end = plain;
      }
      if (isWay || as !== "part" && as !== "folder") continue;
      // A folder around the workspace contains everything else, so only entries directly in it count.
      const found = isWithin(plainName(workspace), end) ? around : folders;
      if ((found === folders || runs) && !found.has(end)) found.set(end, reason);
    }
    return paths.flatMap((path) => {
      const plain = plainName(resolve(workspace, path));
      let reason = files.get(plain) ?? around.get(dirname(plain));
      for (let at = plain; reason === undefined && at !== dirname(at); at = dirname(at)) reason = folders.get(at);
      return reason === undefined ? [] : [[path, reason] as const];
    });
  }
}

function foldersAround(workspace: string, paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const start of [workspace, ...paths.map((path) => dirname(resolve(workspace, path)))]) {
    for (let at = start; !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return folders;
}
