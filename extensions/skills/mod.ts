import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { findSkills, type FoundSkills, readProjectFile } from "./find_skills.ts";
import { readInstructions } from "./instructions.ts";

const MAX_CHARS = 200_000;

const MAX_LIST = 2_000;

interface Found extends FoundSkills {
  readonly notes: readonly string[];
}

/** `activate` and `prompt` of one query receive the same view, so the files are read once. */
const FOUND = new WeakMap<EnvironmentView, Promise<Found>>();

/** Keyed by the places: queries that start while the files are being read share the result. */
const READING = new Map<string, Promise<Found>>();

export default defineExtension({
  namespace: "vis.skills",
  alias: { ns: "vis.ext.skills", alias: "skills" },
  doc: "Instructions of the user and the project (AGENTS.md, CLAUDE.md) and skills, read when they are needed.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
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
  topics: async ({ workspace, home = null, secrets }: EnvironmentView) =>
    (await findSkills({ workspace, home, secrets })).skills.map(({ name, description }) => ({
      name: `skills.read(${JSON.stringify(name)})`,
      doc: description,
    })),
  requests: async ({ workspace, root, home, secrets }) =>
    (await findSkills({ workspace, root, home, secrets })).skills.map(({ name, description }) => ({
      name,
      doc: description,
      text: `Read the skill ${name}, and follow it.\n\n$ARGUMENTS`,
    })),
  shown: 0,
  symbols: [
    fn("read", (env: EnvironmentView, name: string, path?: string) => read(env, { name, path }), {
      doc: "SKILL.md of a skill, or another file of its folder.",
      action: { doing: "reading skill", done: "read skill", things: "files", named: 2 },
      args: z.tuple([z.string().min(1).describe("name"), z.string().min(1).optional().describe("path")]),
      returns: "string",
      examples: ['await skills.read("release")'],
    }),
    fn(
      "list",
      async ({ workspace, root, home = null, secrets }: EnvironmentView) =>
        (await findSkills({ workspace, root, home, secrets })).skills.map(({ name, description }) => ({
          name,
          description,
        })),
      {
        doc: "All skills.",
        args: z.tuple([]),
        returns: "{name, description}[]",
      },
    ),
  ],
});

async function read(
  { workspace, root, home = null, secrets }: EnvironmentView,
  { name, path = "SKILL.md" }: { readonly name: string; readonly path: string | undefined },
): Promise<string> {
  const { skills } = await findSkills({ workspace, root, home, secrets });
  const skill = skills.find((one) => one.name === name);
  if (!skill) {
    throw new Error(`Cannot read skill ${name}: there are ${skills.map((one) => one.name).join(", ") || "none"}`);
  }
  const file = await readProjectFile(skill.folder, { path, maxChars: MAX_CHARS, secrets });
  if (file === null) throw new Error(`Cannot read ${path} of skill ${name}: it is not in its folder`);
  return file.cut ? `${file.text}\n[cut at ${MAX_CHARS} characters]` : file.text;
}

function find(env: EnvironmentView): Promise<Found> {
  const found = FOUND.get(env) ?? shared(env);
  FOUND.set(env, found);
  return found;
}

function shared(env: EnvironmentView): Promise<Found> {
  const key = JSON.stringify([env.workspace, env.root, env.home]);
  const known = READING.get(key);
  if (known) return known;
  const found = search(env).finally(() => READING.delete(key));
  READING.set(key, found);
  return found;
}

async function search({ workspace, root = workspace, home = null, secrets }: EnvironmentView): Promise<Found> {
  const [notes, found] = await Promise.all([
    readInstructions({ workspace, root, home, secrets }),
    findSkills({ workspace, root, home, secrets }),
  ]);
  return { ...found, notes };
}

function listOf({ skills, cut }: FoundSkills): string {
  let length = 0;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
    .filter((line) => (length += line.length + 1) <= MAX_LIST);
  const more = skills.length > lines.length ? [`${skills.length - lines.length} more: skills.list()`] : [];
  const left = cut.map((folder) => `${folder} has too many names: some skills in it are not found`);
  return ["Read a skill before you do what it is for, skills.read(name):", ...lines, ...more, ...left].join("\n");
}
