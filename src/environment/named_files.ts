import type { NamedFile } from "../extension/spec.ts";

const NAMED = /(?<=^|[\s(])@(?:"([^"\n]{1,1000})"|([^\s@"]{1,1000}))/g;
const MOST_NAMED = 20;

export interface NamedRoom {
  readonly file: number;
  readonly all: number;
}

const IN_REQUEST: NamedRoom = { file: 8_000, all: 24_000 };

/** Signs after a path may belong to the sentence. */
const AFTER = /[.,;:!?)\]}'’]+$/;

export async function namedFiles(
  request: string,
  { read, room: { file: most, all } = IN_REQUEST }: {
    readonly read: (path: string, options: { readonly chars: number }) => Promise<NamedFile | null>;
    readonly room?: NamedRoom | undefined;
  },
): Promise<readonly NamedFile[]> {
  const found = new Map<string, NamedFile>();
  let room = all;
  for (const path of namedPaths(request)) {
    const chars = Math.min(most, room);
    const file = await read(path, { chars }) ?? await readWithoutSigns(path, (one) => read(one, { chars }));
    if (file === null || found.has(file.path)) continue;
    found.set(file.path, file);
    room -= file.text?.length ?? 0;
  }
  return [...found.values()];
}

async function readWithoutSigns(
  path: string,
  read: (path: string) => Promise<NamedFile | null>,
): Promise<NamedFile | null> {
  const plain = path.replace(AFTER, "");
  return plain === path || plain === "" ? null : await read(plain);
}

function namedPaths(request: string): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const [, quoted, plain = ""] of request.matchAll(NAMED)) {
    if (paths.size >= MOST_NAMED) break;
    paths.add(quoted ?? plain);
  }
  return paths;
}
