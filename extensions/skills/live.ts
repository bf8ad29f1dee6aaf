/** The parts of the extension that depend on the conversation; loads little. */
import type { EnvironmentView } from "@vis/extension";
import { findSkills, type FoundSkills, readProjectFile } from "./find_skills.ts";

const FILES = ["AGENTS.md", "CLAUDE.md"];
/** Limit per file, since every call of a query carries it. */
const MAX_CHARS = 6_000;
const MAX_LIST = 2_000;

interface Found extends FoundSkills {
  readonly notes: readonly string[];
}

/** `activate` and `prompt` of one query receive the same view, so the files are read once. */
const FOUND = new WeakMap<EnvironmentView, Promise<Found>>();

/** Keyed by workspace and home: queries that start while the files are being read share the result. */
const READING = new Map<string, Promise<Found>>();

function find(env: EnvironmentView): Promise<Found> {
  const found = FOUND.get(env) ?? shared(env);
  FOUND.set(env, found);
  return found;
}

function shared(env: EnvironmentView): Promise<Found> {
  const key = JSON.stringify([env.workspace, env.home]);
  const known = READING.get(key);
  if (known) return known;
  const found = search(env).finally(() => READING.delete(key));
  READING.set(key, found);
  return found;
}

async function search({ workspace, home = null, secrets }: EnvironmentView): Promise<Found> {
  const [files, found] = await Promise.all([
    Promise.all(FILES.map((path) => readProjectFile(workspace, { path, maxChars: MAX_CHARS, secrets }))),
    findSkills({ workspace, home, secrets }),
  ]);
  const notes: string[] = [];
  const seen = new Set<string>();
  for (const [at, file] of files.entries()) {
    if (!file || file.text === "" || seen.has(file.text)) continue; // one is often a link to the other
    seen.add(file.text);
    const name = FILES[at] ?? "";
    notes.push(`${name} of the project:\n${file.text}${file.cut ? `\n[cut here; the rest is in ${name}]` : ""}`);
  }
  return { ...found, notes };
}

const live = {
  /** A child query has only its task and no history. */
  activate: async (env: EnvironmentView): Promise<boolean> => {
    if (env.depth > 0) return false;
    const { notes, skills } = await find(env);
    return notes.length + skills.length > 0;
  },
  prompt: async (env: EnvironmentView): Promise<string> => {
    const { notes, ...found } = await find(env);
    FOUND.delete(env);
    return [...(found.skills.length > 0 ? [listOf(found)] : []), ...notes].join("\n");
  },
};
export default live;

function listOf({ skills, cut }: FoundSkills): string {
  let length = 0;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
    .filter((line) => (length += line.length + 1) <= MAX_LIST);
  const more = skills.length > lines.length ? [`${skills.length - lines.length} more: skills.list()`] : [];
  const left = cut.map((folder) => `${folder} has too many names: some skills in it are not found`);
  return ["Read a skill before you do what it is for, skills.read(name):", ...lines, ...more, ...left].join("\n");
}
