import { dirname, join, relative, resolve } from "node:path";
import { readProjectFile } from "./find_skills.ts";

const FILES = ["AGENTS.md", "CLAUDE.md"];
const MAX_FILE_CHARS = 6_000, MAX_CHARS = 24_000, MAX_BEGINNING = 1_200;
const MAX_FOLDERS = 20;
const MAX_IMPORTS = 20;
const IMPORT = /^[ \t]*@((?:\.{1,2}\/)*[\w./-]+)[ \t]*$/gm;

interface Places {
  readonly workspace: string;
  readonly root: string;
  readonly home: string | null;
  readonly secrets: readonly string[] | undefined;
}

interface Text {
  readonly text: string;
  readonly cut: boolean;
}

/** `beginning` fits into a note, and names the files with the rest. */
export async function folderInstructions(
  folder: string,
  { workspace, root, secrets }: Omit<Places, "home">,
): Promise<{ readonly whole: string; readonly beginning: string }> {
  const found = await Promise.all(FILES.map(async (name) => {
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
export async function readInstructions({ workspace, root, home, secrets }: Places): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let at = workspace; folders.unshift(at) < MAX_FOLDERS && at !== root; at = dirname(at));
  const wanted = folders.flatMap((folder) => FILES.map((file) => join(folder, file)));
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
    if (chars > MAX_CHARS) left.unshift(name || "AGENTS.md of the user");
    else notes.unshift(noteOf(file, name));
  }
  const more = left.length === 0 ? [] : [`Too long to be shown: ${left.join(", ")}`];
  return [...notes, ...more];
}

function cutAt({ text, cut }: Text, chars: number): Text {
  return { text: text.slice(0, chars).toWellFormed(), cut: cut || text.length > chars };
}

function noteOf({ text, cut }: Text, name: string): string {
  const title = name === "" ? "AGENTS.md of the user" : `${name} of the project`;
  return `${title}:\n${text}${cut ? `\n[cut here${name === "" ? "" : `; the rest is in ${name}`}]` : ""}`;
}

async function readWithImports(
  within: string,
  { path, secrets }: { readonly path: string; readonly secrets: readonly string[] | undefined },
): Promise<Text | null> {
  const read = (file: string): Promise<Text | null> =>
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
