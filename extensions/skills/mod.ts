import { defineExtension, type EnvironmentView, fn, z } from "@vis/extension";
import { findSkills, readProjectFile } from "./find_skills.ts";
import live from "./live.ts";

const MAX_CHARS = 200_000;

export default defineExtension({
  namespace: "vis.skills",
  alias: { ns: "vis.ext.skills", alias: "skills" },
  doc: "Instructions of the project (AGENTS.md, CLAUDE.md) and skills, read when they are needed.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  activate: live.activate,
  prompt: live.prompt,
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
      async ({ workspace, home = null, secrets }: EnvironmentView) =>
        (await findSkills({ workspace, home, secrets })).skills.map(({ name, description }) => ({ name, description })),
      {
        doc: "All skills.",
        args: z.tuple([]),
        returns: "{name, description}[]",
      },
    ),
  ],
});

async function read(
  { workspace, home = null, secrets }: EnvironmentView,
  { name, path = "SKILL.md" }: { readonly name: string; readonly path: string | undefined },
): Promise<string> {
  const { skills } = await findSkills({ workspace, home, secrets });
  const skill = skills.find((one) => one.name === name);
  if (!skill) {
    throw new Error(`Cannot read skill ${name}: there are ${skills.map((one) => one.name).join(", ") || "none"}`);
  }
  const file = await readProjectFile(skill.folder, { path, maxChars: MAX_CHARS, secrets });
  if (file === null) throw new Error(`Cannot read ${path} of skill ${name}: it is not in its folder`);
  return file.cut ? `${file.text}\n[cut at ${MAX_CHARS} characters]` : file.text;
}
