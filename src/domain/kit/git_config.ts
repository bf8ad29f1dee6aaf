import { dirname, join } from "node:path";
import { joinUnresolved, smallTextFile } from "./files.ts";
import { matchesWildcard } from "./names.ts";

const DEPTH = 10, MOST_INCLUDED = 200;

/** `section` and `key` are in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  readonly value: string;
}

/** A backslash does not continue a comment. */
const GAP = /(?:[\s\uFEFF]+|[#;][^\n]*)+/y;
const HEADER = /\[([\w.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
const KEY = /([A-Za-z][\w-]*)[ \t]*(=[ \t]*)?/y;
const REST = /[^\n]*/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

export function parseGitConfig(text: string): readonly GitSetting[] {
  const found: GitSetting[] = [];
  let section = "", subsection: string | null = null, at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  while (at < text.length) {
    if (take(GAP)) continue;
    const header = take(HEADER);
    if (header) {
      section = (header[1] ?? "").toLowerCase();
      subsection = header[2] === undefined ? null : header[2].replace(/\\(.)/g, "$1");
      continue;
    }
    const [, key, equals] = take(KEY) ?? [];
    const ends = equals !== undefined || at === text.length || /[\n\r#;]/.test(text.charAt(at));
    if (key === undefined || !ends) {
      take(REST);
      continue;
    }
    let value = "true";
    if (equals !== undefined) [value, at] = valueAt(text, at);
    if (section !== "") found.push({ section, subsection, key: key.toLowerCase(), value });
  }
  return found;
}

export function isSha256(settings: readonly GitSetting[]): boolean {
  return settings.some(({ section, key, value }) =>
    section === "extensions" && key === "objectformat" && value.toLowerCase() === "sha256"
  );
}

function valueAt(text: string, from: number): [value: string, end: number] {
  let value = "", kept = 0, quoted = false, at = from;
  for (; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "\n") break;
    if (char === '"') quoted = !quoted;
    else if (char === "\\") {
      const line = /^\\\r?\n/.exec(text.slice(at, at + 3));
      if (line) {
        at += line[0].length - 1;
        continue;
      }
      value += ESCAPES[text.charAt(++at)] ?? text.charAt(at);
    } else if (!quoted && (char === "#" || char === ";")) {
      REST.lastIndex = at;
      at += REST.exec(text)?.[0].length ?? 0;
      break;
    } else value += char;
    if (quoted || !/\s/.test(char)) kept = value.length;
  }
  return [value.slice(0, kept), at];
}

/** On Windows, other users of the machine may be able to write to a path of this form. */
const SYSTEM = Deno.build.os === "windows" ? null : "/etc/gitconfig";

/** `system` is the file with the settings of all users. */
export async function userGitSettings(
  { home, gitDir, system = SYSTEM }: {
    readonly home: string | null;
    readonly gitDir: string;
    readonly system?: string | null;
  },
): Promise<readonly GitSetting[]> {
  if (!home) return [];
  const files = [...system === null ? [] : [system], join(home, ".config/git/config"), join(home, ".gitconfig")];
  const read = await Promise.all(files.map((path) => withIncluded(path, { home, gitDir, depth: 0 })));
  return read.flat();
}

/** Ignores conditions: reads every included file, up to fixed limits. `included` also has the paths of missing files. */
export async function everyGitSetting(
  files: readonly string[],
  home: string,
): Promise<{ readonly settings: readonly GitSetting[]; readonly included: readonly string[] }> {
  const included: string[] = [];
  const facts = { home, gitDir: "", depth: 0, included };
  const read = await Promise.all(files.map((path) => withIncluded(path, facts)));
  return { settings: read.flat(), included };
}

async function withIncluded(
  path: string,
  facts: { readonly home: string; readonly gitDir: string; readonly depth: number; readonly included?: string[] },
): Promise<readonly GitSetting[]> {
  const text = facts.depth > DEPTH ? null : await smallTextFile(path, { links: true });
  if (text === null) return [];
  const settings: GitSetting[] = [];
  for (const one of parseGitConfig(text)) {
    const isInclude = one.key === "path" && (facts.included && one.section.startsWith("include") ||
      includes(one, { ...facts, folder: dirname(path) }));
    if (isInclude) {
      const included = joinUnresolved(dirname(path), untilde(one.value, facts.home));
      if (facts.included && (facts.included.length >= MOST_INCLUDED || facts.included.includes(included))) continue;
      facts.included?.push(included);
      settings.push(...await withIncluded(included, { ...facts, depth: facts.depth + 1 }));
    } else settings.push(one);
  }
  return settings;
}

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

function fits([first, ...rest]: readonly string[], parts: readonly string[]): boolean {
  if (first === undefined) return parts.length === 0;
  if (first === "**") return rest.length === 0 || parts.some((_, at) => fits(rest, parts.slice(at)));
  const [part] = parts;
  return part !== undefined && matchesWildcard(first, part) && fits(rest, parts.slice(1));
}

export function untilde(path: string, home: string): string {
  const [start = "", name] = /^~([^/]*)\//.exec(path) ?? [];
  if (name === undefined) return path;
  const folder = name === "" ? home : homeOf(name);
  return folder === null ? path : `${folder}/${path.slice(start.length)}`;
}

function homeOf(name: string): string | null {
  try {
    const users = Deno.readTextFileSync("/etc/passwd").split("\n").map((line) => line.split(":"));
    return users.find(([user]) => user === name)?.[5] ?? null;
  } catch {
    return null;
  }
}
