import type { NamedFile } from "../extension/spec.ts";

const NAMED = /(?<=^|[\s(])@(?:"([^"\n]{1,1000})"|([^\s@"]{1,1000}))/g;
const MOST_NAMED = 20;

export interface NamedRoom {
  readonly file: number;
  readonly all: number;
}

const IN_REQUEST: NamedRoom = { file: 8_000, all: 24_000 };

const AFTER = /[.,;:!?)\]}'’]+$/;

/** `read` resolves with null if nothing is there, and rejects if the file cannot be shown. */
export async function namedFiles(
  request: string,
  { read, room: { file: most, all } = IN_REQUEST, onMissed }: {
    readonly read: (path: string, options: { readonly chars: number }) => Promise<NamedFile | null>;
    readonly room?: NamedRoom | undefined;
    readonly onMissed: (path: string, error: unknown) => void;
  },
): Promise<readonly NamedFile[]> {
  const found = new Map<string, NamedFile>();
  let room = all;
  for (const path of namedPaths(request)) {
    const chars = Math.min(most, room);
    let file: NamedFile | null = null, fault: unknown = null;
    const plain = path.replace(AFTER, "");
    for (const name of new Set([path, plain || path])) {
      file ??= await read(name, { chars }).catch((error: unknown) => {
        fault = error;
        return null;
      });
    }
    if (file === null) {
      const has = async (path: string): Promise<boolean> => await read(path, { chars: 0 }).catch(() => null) !== null;
      if ((fault !== null || await isPath(plain, has)) && await has(".")) onMissed(plain || path, fault);
    } else if (!found.has(file.path)) {
      found.set(file.path, file);
      room -= file.text?.length ?? 0;
    }
  }
  return [...found.values()];
}

/** Names of packages, such as `@types/node`, and of people are not paths. */
async function isPath(name: string, has: (folder: string) => Promise<boolean>): Promise<boolean> {
  if (/^(?:\.{1,2}|~)?\/.|^[^/]+\.[A-Za-z0-9]{1,5}$/.test(name)) return true;
  const [, folder = ""] = /^(?!types\/)([^/]+)\/(?:.*\/)?[^/]+\.[A-Za-z0-9]{1,5}$/.exec(name) ?? [];
  return folder !== "" && await has(folder);
}

function namedPaths(request: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [, quoted, plain = ""] of request.matchAll(NAMED)) {
    if (paths.size >= MOST_NAMED) break;
    paths.add(quoted ?? plain);
  }
  return paths;
}
