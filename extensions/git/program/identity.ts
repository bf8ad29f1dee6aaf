import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { matchesWildcard } from "@vis/extension";
import { type GitSetting, parseGitConfig } from "./config_text.ts";
import IdentityConfig from "./settings.ts";
import { smallFile } from "./small_file.ts";

export interface Identity {
  readonly name: string;
  readonly email: string;
}

const DEPTH = 5;

/** Who commits: from the extension's section, or the repository, or the user's own git configuration, of which only
 * name and address are used. Throws Error that says how to set it. */
export async function identityOf(
  { config, settings, gitDir, home = homedir() }: {
    readonly config: unknown;
    readonly settings: readonly GitSetting[];
    readonly gitDir: string;
    readonly home?: string | null;
  },
): Promise<Identity> {
  const own = IdentityConfig.safeParse(config ?? {}).data ?? {};
  const users = own.name !== undefined && own.email !== undefined ? [] : await userSettings({ home, gitDir });
  const all = [...users, ...settings];
  const value = (key: string): string | undefined =>
    all.findLast((one) => one.section === "user" && one.subsection === null && one.key === key)?.value || undefined;
  const name = own.name ?? value("name");
  const email = own.email ?? value("email");
  if (name !== undefined && email !== undefined) return { name, email };
  const lacking = [...(name === undefined ? ["user.name"] : []), ...(email === undefined ? ["user.email"] : [])];
  throw new Error(
    `Cannot commit: ${
      lacking.join(" and ")
    } are not set; the user sets them by git config --global, or as name and email in extensions.config["vis.git"]`,
  );
}

/** From the user's own files. */
async function userSettings(
  { home, gitDir }: { readonly home: string | null; readonly gitDir: string },
): Promise<readonly GitSetting[]> {
  if (!home) return [];
  const files = [join(home, ".config/git/config"), join(home, ".gitconfig")];
  const read = await Promise.all(files.map((path) => withIncluded(path, { home, gitDir, depth: 0 })));
  return read.flat();
}

/** Settings of a file and the files that it includes, in order. */
async function withIncluded(
  path: string,
  facts: { readonly home: string; readonly gitDir: string; readonly depth: number },
): Promise<readonly GitSetting[]> {
  const text = facts.depth > DEPTH ? null : await smallFile(path, { links: true });
  if (text === null) return [];
  const settings: GitSetting[] = [];
  for (const one of parseGitConfig(text)) {
    if (one.key === "path" && includes(one, { ...facts, folder: dirname(path) })) {
      const included = resolve(dirname(path), untilde(one.value, facts.home));
      settings.push(...await withIncluded(included, { ...facts, depth: facts.depth + 1 }));
    } else settings.push(one);
  }
  return settings;
}

/** Supports conditions about the repository's folder; all others count as false. */
function includes(
  { section, subsection }: GitSetting,
  { home, gitDir, folder }: { readonly home: string; readonly gitDir: string; readonly folder: string },
): boolean {
  if (section === "include") return true;
  const [, loose, pattern] = /^gitdir(\/i)?:(.+)$/s.exec(subsection ?? "") ?? [];
  if (section !== "includeif" || pattern === undefined) return false;
  const whole = pattern.startsWith("./") ? join(folder, pattern) : untilde(pattern, home);
  const rooted = whole.startsWith("/") ? whole : `**/${whole}`;
  const glob = rooted.endsWith("/") ? `${rooted}**` : rooted;
  const small = (text: string): string => loose === undefined ? text : text.toLowerCase();
  return fits(small(glob).split("/"), small(gitDir).split("/"));
}

/** Matches parts of a path: `**` for any number of parts, `*` within one. */
function fits([first, ...rest]: readonly string[], parts: readonly string[]): boolean {
  if (first === undefined) return parts.length === 0;
  if (first === "**") return rest.length === 0 || parts.some((_, at) => fits(rest, parts.slice(at)));
  const [part] = parts;
  return part !== undefined && matchesWildcard(first, part) && fits(rest, parts.slice(1));
}

function untilde(path: string, home: string): string {
  return path.startsWith("~/") ? join(home, path.slice(2)) : path;
}
