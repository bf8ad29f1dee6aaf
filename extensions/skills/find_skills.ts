import { decodeText, firstBytes, firstEntries, isSecretFile, oneLine } from "@vis/extension";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { relative } from "node:path";

interface Skill {
  readonly name: string;
  readonly description: string;
  readonly folder: string;
}

const MAX_SKILLS = 1_000, MAX_NAMES = 2_000;
export const MOST = `${MAX_SKILLS} folders or ${MAX_NAMES} names`;
const MAX_HEAD = 4_000;
const NONE: FoundSkills = { skills: [], cut: [], faults: [] };
const PLACES = [".vis/skills", ".agents/skills", ".claude/skills", "skills"];
const USER_PLACES = [".agents/skills", ".claude/skills"];

export interface FoundSkills {
  readonly skills: readonly Skill[];
  readonly cut: readonly string[];
  readonly faults: readonly string[];
}

/** If several skills have the same name, the workspace precedes its repository, and the repository the user's
 * folders. */
export async function findSkills(
  { workspace, root = workspace, home = null, userHome = homedir(), secrets }: {
    readonly workspace: string;
    readonly root?: string | undefined;
    readonly home?: string | null;
    readonly userHome?: string | null;
    readonly secrets?: readonly string[] | undefined;
  },
): Promise<FoundSkills> {
  const lists = await Promise.all([
    ...[...new Set([workspace, root])].flatMap((folder) =>
      PLACES.map((place) => skillsIn(`${folder}/${place}`, { within: root, secrets }))
    ),
    ...(home === null
      ? []
      : [`${home}/skills`, ...(userHome === null ? [] : USER_PLACES.map((place) => `${userHome}/${place}`))])
      .map((folder) => skillsIn(folder, { secrets })),
  ]);
  const found = new Map<string, Skill>();
  for (const skill of lists.flatMap(({ skills }) => skills)) if (!found.has(skill.name)) found.set(skill.name, skill);
  const skills = [...found.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  return { skills, cut: lists.flatMap(({ cut }) => cut), faults: lists.flatMap(({ faults }) => faults) };
}

async function skillsIn(
  root: string,
  { within, secrets }: { readonly within?: string; readonly secrets: readonly string[] | undefined },
): Promise<FoundSkills> {
  if (!existsSync(root)) return NONE;
  const list = await firstEntries(root, { most: MAX_NAMES }).catch(() => null);
  if (list === null) return NONE;
  const names = list.entries.filter(({ isFile }) => !isFile).map(({ name }) => name);
  const found = await Promise.all(
    names.sort().slice(0, MAX_SKILLS).map(async (name): Promise<Skill | string | null> => {
      const folder = `${root}/${name}`;
      if (!existsSync(`${folder}/SKILL.md`)) return null;
      if (within !== undefined && await realInside(within, folder) === null) {
        return `its path leads out of ${within}`;
      }
      const file = await readProjectFile(folder, { path: "SKILL.md", maxChars: MAX_HEAD, secrets });
      return file === null ? UNREADABLE : skillOf(file.text, { name, folder });
    }),
  );
  const faults = found.flatMap((one, at) =>
    typeof one === "string" ? [`Cannot use the skill ${root}/${names[at]}: ${one}`] : []
  );
  const hasMore = list.hasMore || names.length > MAX_SKILLS;
  return {
    skills: found.filter((one) => one !== null && typeof one !== "string"),
    cut: hasMore ? [root] : [],
    faults,
  };
}

const UNREADABLE = "its SKILL.md is binary or unreadable, leads out of its folder, or may hold keys";

function skillOf(text: string, { name, folder }: { readonly name: string; readonly folder: string }): Skill | string {
  const [, head] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text) ?? [];
  if (head === undefined) {
    return `the first ${MAX_HEAD} characters of its SKILL.md have no description between two lines of ---`;
  }
  const own = field(head, "name");
  const description = field(head, "description");
  if (description === "") return "its SKILL.md has no description";
  return { name: /^[\w.-]{1,64}$/.test(own) ? own : name, description: oneLine(description, 300), folder };
}

function field(head: string, key: string): string {
  const lines = head.split(/\r?\n/);
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at < 0) return "";
  const first = (lines[at] ?? "").slice(key.length + 1).trim();
  const rest: string[] = [];
  for (const line of lines.slice(at + 1)) {
    if (/^\S/.test(line)) break;
    if (line.trim() !== "") rest.push(line.trim());
  }
  return /^[>|][-+]?$/.test(first) ? rest.join(" ").trim() : unquoted([first, ...rest].join(" ").trim());
}

function unquoted(text: string): string {
  if (/^'(?:[^']|'')*'$/s.test(text)) return text.slice(1, -1).replaceAll("''", "'").trim();
  if (!/^"(?:[^"\\]|\\.)*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text)).trim();
  } catch {
    return text.slice(1, -1).trim();
  }
}

/** Another person may have written the repository. Returns null for a missing, unreadable or binary file, and if links
 * lead outside or to a file that may have keys. */
export async function readProjectFile(
  root: string,
  { path, maxChars, secrets = [] }: {
    readonly path: string;
    readonly maxChars: number;
    readonly secrets?: readonly string[] | undefined;
  },
): Promise<{ readonly text: string; readonly cut: boolean } | null> {
  if (!existsSync(`${root}/${path}`)) return null;
  try {
    const real = await realInside(root, `${root}/${path}`);
    if (real === null) return null;
    if (isSecretFile(relative(await Deno.realPath(root), real), secrets)) return null;
    const bytes = firstBytes(real, maxChars * 4 + 1);
    const text = bytes === null ? undefined : decodeText(bytes)?.text;
    if (text === undefined) return null;
    return { text: [...text.slice(0, maxChars + 1)].slice(0, maxChars).join("").trim(), cut: text.length > maxChars };
  } catch {
    return null;
  }
}

async function realInside(root: string, path: string): Promise<string | null> {
  try {
    const [top, real] = await Promise.all([Deno.realPath(root), Deno.realPath(path)]);
    return real.startsWith(`${top}${Deno.build.os === "windows" ? "\\" : "/"}`) ? real : null;
  } catch {
    return null;
  }
}
