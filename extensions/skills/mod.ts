import {
  advised,
  BoundedMap,
  defineExtension,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  fn,
  nearestNames,
  z,
} from "@vis/extension";
import { dirname, join, relative, resolve, sep } from "node:path";
import { findSkills, type FoundSkills, MOST, readProjectFile } from "./find_skills.ts";

const MAX_CHARS = 200_000;

const MAX_LIST = 2_000;

const INSTRUCTION_FILES = ["AGENTS.md", "CLAUDE.md"];
const MAX_FILE_CHARS = 6_000, MAX_INSTRUCTIONS = 24_000, MAX_BEGINNING = 1_200;
const MAX_FOLDERS = 20;
const MAX_IMPORTS = 20;
const IMPORT = /^[ \t]*@((?:\.{1,2}\/)*[\w./-]+)[ \t]*$/gm;

interface Found extends FoundSkills {
  readonly notes: readonly string[];
}

/** `activate` and `prompt` of one query receive the same view, so Vis reads the files once. */
const FOUND = new WeakMap<EnvironmentView, Promise<Found>>();

/** For each branch, the map has the instructions in the prompt by their folder, and "" for each other known folder. */
const KNOWN = new BoundedMap<string, Map<string, string>>(64);
const MOST_KNOWN = 20, MOST_KNOWN_CHARS = 24_000;
const FOLDERS = "folders";

const READING = new Map<string, Promise<Found>>();

export default defineExtension({
  namespace: "vis.skills",
  alias: { ns: "vis.ext.skills", alias: "skills" },
  doc: "Gives the model instructions of the user and the project (AGENTS.md, CLAUDE.md), and skills.",
  group: "memory",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  /** A sub-query gets its task and variables from the block that starts it, and no instructions or skills. */
  activate: async (env: EnvironmentView): Promise<boolean> => {
    if (env.depth > 0) return false;
    const [{ notes, skills, faults }] = await Promise.all([find(env), recallFolders(env)]);
    for (const text of faults) warnOnce(env, text);
    return notes.length + skills.length + knownIn(env).length > 0;
  },
  prompt: async (env: EnvironmentView): Promise<string> => {
    const { notes, ...found } = await find(env);
    FOUND.delete(env);
    return [...(found.skills.length > 0 ? [listOf(found)] : []), ...notes, ...knownIn(env)].join("\n");
  },
  /** When a call first reads a file in a folder, Vis shows the instructions of this folder. Later requests have the
   * instructions from the beginning. */
  fileRead: tellInstructions,
  doctor: checkSkills,
  topics: async (env: EnvironmentView) =>
    (await findSkills(placesOf(env))).skills.map(({ name, description }) => ({
      name: `skills.read(${JSON.stringify(name)})`,
      doc: description,
    })),
  requests: async (place) =>
    (await findSkills(placesOf(place))).skills.map(({ name, description }) => ({
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
      async (env: EnvironmentView) =>
        (await findSkills(placesOf(env))).skills.map(({ name, description }) => ({
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
  env: EnvironmentView,
  { name, path = "SKILL.md" }: { readonly name: string; readonly path: string | undefined },
): Promise<string> {
  const { skills } = await findSkills(placesOf(env));
  const skill = skills.find((one) => one.name === name);
  if (!skill) {
    const near = nearestNames(name, skills.map((one) => one.name));
    if (near.length === 0) throw new Error(`Cannot read skill ${name}: Vis found no skills`);
    const nearest = `the nearest ${near.length === 1 ? "is" : "are"} ${near.join(", ")}`;
    throw advised(
      new Error(`Cannot read skill ${name}: Vis found no skill with this name (${nearest})`),
      "skills.list() lists all",
    );
  }
  const file = await readProjectFile(skill.folder, { path, maxChars: MAX_CHARS, secrets: env.secrets });
  if (file === null) {
    throw new Error(
      `Cannot read ${path} of skill ${name}: the file is missing, binary or unreadable, leads out of the skill's folder, ` +
        "or may hold keys",
    );
  }
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

async function search(env: EnvironmentView): Promise<Found> {
  const { workspace, root = workspace, home = null, secrets } = env;
  const [notes, found] = await Promise.all([
    readInstructions({ workspace, root, home, secrets }),
    findSkills(placesOf(env)),
  ]);
  return { ...found, notes };
}

/** Another tenant must not see skills in the home folder of the user. */
function placesOf(
  { workspace, root, home = null, secrets, tenant }: Pick<
    EnvironmentView,
    "workspace" | "root" | "home" | "secrets" | "tenant"
  >,
): Parameters<typeof findSkills>[0] {
  return {
    workspace,
    root,
    home,
    secrets,
    ...(tenant === undefined || tenant === "default" ? {} : { userHome: null }),
  };
}

function listOf({ skills, cut }: FoundSkills): string {
  let length = 0;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`)
    .filter((line) => (length += line.length + 1) <= MAX_LIST);
  const more = skills.length > lines.length ? [`${skills.length - lines.length} more: skills.list()`] : [];
  const left = cut.map((folder) => `${folder} has more than ${MOST}, so Vis finds only some of its skills`);
  return ["Read a skill before you do what it is for, skills.read(name):", ...lines, ...more, ...left].join("\n");
}

function knownIn({ branchId }: EnvironmentView): readonly string[] {
  return [...KNOWN.get(branchId)?.values() ?? []].filter((text) => text !== "");
}

async function recallFolders(
  { workspace, root = workspace, secrets, branchId, store }: EnvironmentView,
): Promise<void> {
  const stored = await store?.get(FOLDERS);
  if (!Array.isArray(stored)) return;
  const known = KNOWN.get(branchId) ?? new Map<string, string>();
  const folders = stored.slice(0, MOST_KNOWN).map((one) => resolve(workspace, String(one)))
    .filter((folder) => holds(root, folder));
  const texts = await Promise.all(folders.map((folder) => folderInstructions(folder, { workspace, root, secrets })));
  let chars = 0;
  for (const [at, { whole }] of texts.entries()) {
    chars += whole.length;
    known.set(folders[at] ?? "", chars > MOST_KNOWN_CHARS ? "" : whole);
  }
  KNOWN.set(branchId, known);
}

function holds(folder: string, one: string): boolean {
  return one === folder || one.startsWith(`${folder}${sep}`);
}

async function tellInstructions(env: EnvironmentView, path: string): Promise<void> {
  const { workspace, root = workspace, secrets, conversationId, branchId, note, store } = env;
  if (env.depth > 0 || conversationId === "") return;
  const known = KNOWN.get(branchId) ?? new Map<string, string>(), folders: string[] = [];
  for (let at = dirname(resolve(workspace, path)); holds(root, at) && !holds(at, workspace); at = dirname(at)) {
    folders.unshift(at);
  }
  for (const folder of folders) {
    if (known.has(folder) || known.size >= MOST_KNOWN) continue;
    known.set(folder, "");
    KNOWN.set(branchId, known);
    const { whole, beginning } = await folderInstructions(folder, { workspace, root, secrets });
    const chars = [...known.values()].reduce((sum, one) => sum + one.length, whole.length);
    if (whole === "") continue;
    if (chars > MOST_KNOWN_CHARS) {
      note?.(`Read the instructions in ${relative(workspace, folder)} before you work there`);
    } else {
      known.set(folder, whole);
      note?.(beginning);
      const shown = [...known].flatMap(([one, text]) => text === "" ? [] : [relative(workspace, one)]);
      await store?.put(FOLDERS, shown);
    }
  }
}

const WARNED = new BoundedMap<string, true>(1_000);

function warnOnce({ warn }: EnvironmentView, text: string): void {
  if (WARNED.has(text)) return;
  WARNED.set(text, true);
  warn?.(text);
}

async function checkSkills({ workspace, root, home }: DoctorContext): Promise<readonly DoctorCheck[]> {
  const { skills, faults } = await findSkills({ workspace, root, home });
  const name = "skills";
  if (faults.length === 0) {
    return skills.length === 0 ? [] : [{ name, state: "ok", found: `${skills.length} found`, fix: "" }];
  }
  return faults.map((found) => ({ name, state: "warn", found, fix: "Correct the skill, or remove its folder" }));
}

interface InstructionPlaces {
  readonly workspace: string;
  readonly root: string;
  readonly home: string | null;
  readonly secrets: readonly string[] | undefined;
}

interface InstructionText {
  readonly text: string;
  readonly cut: boolean;
}

async function folderInstructions(
  folder: string,
  { workspace, root, secrets }: Omit<InstructionPlaces, "home">,
): Promise<{ readonly whole: string; readonly beginning: string }> {
  const found = await Promise.all(INSTRUCTION_FILES.map(async (name) => {
    const path = join(folder, name), file = await readWithImports(root, { path, secrets });
    return file === null || file.text === "" ? null : { file, name: relative(workspace, path) };
  }));
  const [first, second] = found;
  const files = [first, second?.file.text === first?.file.text ? null : second].flatMap((one) => one ? [one] : []);
  return {
    whole: files.map(({ file, name }) => noteOf(file, name)).join("\n"),
    beginning: files.map(({ file, name }) => noteOf(cutAt(file, MAX_BEGINNING), name)).join("\n"),
  };
}

/** If the texts are too long together, the texts nearest to the workspace stay. */
async function readInstructions({ workspace, root, home, secrets }: InstructionPlaces): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let at = workspace; folders.unshift(at) < MAX_FOLDERS && at !== root; at = dirname(at));
  const wanted = folders.flatMap((folder) => INSTRUCTION_FILES.map((file) => join(folder, file)));
  const found = await Promise.all([
    ...(home === null ? [] : [readWithImports(home, { path: join(home, "AGENTS.md"), secrets })]),
    ...wanted.map((path) => readWithImports(root, { path, secrets })),
  ]);
  const names = [...(home === null ? [] : [""]), ...wanted.map((path) => relative(workspace, path))];
  const notes: string[] = [], left: string[] = [];
  let chars = 0;
  for (let at = found.length - 1; at >= 0; at--) {
    const file = found[at], name = names[at] ?? "";
    if (!file || file.text === "" || found.slice(0, at).some((one) => one?.text === file.text)) continue;
    chars += file.text.length;
    if (chars > MAX_INSTRUCTIONS) left.unshift(name || "AGENTS.md of the user");
    else notes.unshift(noteOf(file, name));
  }
  const more = left.length === 0 ? [] : [`Too long to be shown: ${left.join(", ")}`];
  return [...notes, ...more];
}

function cutAt({ text, cut }: InstructionText, chars: number): InstructionText {
  return { text: text.slice(0, chars).toWellFormed(), cut: cut || text.length > chars };
}

function noteOf({ text, cut }: InstructionText, name: string): string {
  const title = name === "" ? "AGENTS.md of the user" : `${name} of the project`;
  return `${title}:\n${text}${cut ? `\n[cut here${name === "" ? "" : `; the rest is in ${name}`}]` : ""}`;
}

async function readWithImports(
  within: string,
  { path, secrets }: { readonly path: string; readonly secrets: readonly string[] | undefined },
): Promise<InstructionText | null> {
  const read = (file: string): Promise<InstructionText | null> =>
    readProjectFile(within, { path: relative(within, file), maxChars: MAX_FILE_CHARS, secrets });
  const first = await read(path);
  if (first === null) return null;
  const imported = new Set([path]);
  const expanded = async (text: string, folder: string): Promise<string> => {
    let whole = "", end = 0;
    for (const line of text.matchAll(IMPORT)) {
      const file = resolve(folder, line[1] ?? "");
      if (imported.size > MAX_IMPORTS || imported.has(file)) continue;
      imported.add(file);
      const part = await read(file);
      if (part === null) continue;
      whole += text.slice(end, line.index) + await expanded(part.text, dirname(file));
      end = line.index + line[0].length;
    }
    return whole + text.slice(end);
  };
  const whole = await expanded(first.text, dirname(path));
  return cutAt({ text: whole, cut: first.cut }, MAX_FILE_CHARS);
}
