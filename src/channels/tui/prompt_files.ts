import { basename, dirname, join } from "node:path";
import { firstEntries, smallTextFile } from "../../domain/kit/files.ts";
import { oneLine, visibleText } from "../../domain/kit/text.ts";

const NAME = /^[a-z][a-z0-9_-]*$/;
const MOST_FILES = 200, MOST_NAMES = 2_000;
const MOST_BYTES = 100_000;
const HEADER = /^---\n([^]*?)\n---\n/;

export interface PromptFile {
  readonly name: string;
  readonly detail: string;
  readonly text: string;
}

interface PromptFiles {
  readonly prompts: readonly PromptFile[];
  readonly notes: readonly string[];
}

/** A prompt of the workspace takes precedence over a prompt of the user with the same name. A link could lead out of
 * the repository, so Vis follows no link to a prompt or to a folder of prompts. In a workspace, Vis also follows no
 * link `.vis` or `.claude`. */
export async function promptFiles(
  { workspace, home, userHome = null }: {
    readonly workspace: string;
    readonly home: string | null;
    readonly userHome?: string | null;
  },
): Promise<PromptFiles> {
  const found = new Map<string, PromptFile>();
  const notes: string[] = [];
  const own = [join(workspace, ".vis", "prompts"), join(workspace, ".claude", "commands")];
  const folders = [
    ...(await Promise.all(own.map(async (folder) => await isFolder(dirname(folder)) ? [folder] : []))).flat(),
    ...home === null ? [] : [join(home, "prompts")],
    ...userHome === null ? [] : [join(userHome, ".claude", "commands")],
  ];
  for (const folder of folders) {
    const { names, hasMore } = await namesIn(folder);
    if (hasMore) {
      notes.push(
        `Vis omits some prompts of ${folder}: it has more than ${MOST_FILES} prompts or ${MOST_NAMES} entries`,
      );
    }
    for (const name of names) {
      if (found.has(name)) continue;
      const text = await textOf(join(folder, `${name}.md`));
      if (text !== null) found.set(name, promptFile(name, text));
    }
  }
  return { prompts: [...found.values()], notes };
}

async function isFolder(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(({ isDirectory }) => isDirectory, () => false);
}

async function namesIn(folder: string): Promise<{ readonly names: readonly string[]; readonly hasMore: boolean }> {
  try {
    if (!await isFolder(folder)) return { names: [], hasMore: false };
    const { entries, hasMore } = await firstEntries(folder, { most: MOST_NAMES });
    const names = entries.filter(({ name, isFile }) => isFile && name.endsWith(".md"))
      .map(({ name }) => basename(name, ".md")).filter((name) => NAME.test(name)).sort();
    return { names: names.slice(0, MOST_FILES), hasMore: hasMore || names.length > MOST_FILES };
  } catch {
    return { names: [], hasMore: false };
  }
}

async function textOf(path: string): Promise<string | null> {
  return (await smallTextFile(path, { most: MOST_BYTES }))?.replaceAll("\r\n", "\n") ?? null;
}

function promptFile(name: string, text: string): PromptFile {
  const header = HEADER.exec(text);
  const body = text.slice(header?.[0].length ?? 0).trim();
  const said = /^description:\s*(?:"([^"]*)"|'([^']*)'|(.*))$/m.exec(header?.[1] ?? "")?.slice(1).find(Boolean);
  return { name, detail: oneLine(visibleText(said ?? body), 80), text: body };
}
