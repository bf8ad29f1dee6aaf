import { join } from "node:path";
import type { ProcessOwner } from "../../persistence/store/query_store.ts";
import { isAlive, thisProcess } from "../session/process_owner.ts";
import { removeCopy } from "./_remove_tree.ts";

const PREFIX = "vis-replay-", OWNER = "owner.json";
const RANDOM = 10, LONGEST_NAME = 200;
const DAY_MS = 86_400_000;

/** Makes a folder (real path) for a copy inside another one and records this process as its owner; its path has
 * `length` characters, unless that is too short or too long. First removes copies whose process is gone. */
export async function makeCopyFolder(folder: string, { length }: { readonly length: number }): Promise<string> {
  const parent = await Deno.realPath(folder);
  await removeAbandoned(parent);
  const wanted = length - join(parent, PREFIX).length;
  const random = crypto.getRandomValues(new Uint8Array(LONGEST_NAME));
  const digits = Array.from(random, (byte) => (byte & 15).toString(16)).join("");
  const path = join(parent, PREFIX + digits.slice(0, wanted >= RANDOM && wanted <= LONGEST_NAME ? wanted : RANDOM));
  await Deno.mkdir(path, { mode: 0o700 });
  try {
    await Deno.writeTextFile(join(path, OWNER), JSON.stringify(thisProcess()));
  } catch (error) {
    await removeCopy(path);
    throw error;
  }
  return path;
}

async function removeAbandoned(parent: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    if (!isDirectory || !name.startsWith(PREFIX)) continue;
    const path = join(parent, name);
    // What cannot be inspected or removed belongs to someone else.
    if (await isAbandoned(path).catch(() => false)) await removeCopy(path).catch(() => {});
  }
}

/** Copies from another machine, boot or namespace count as abandoned after a day. */
async function isAbandoned(path: string): Promise<boolean> {
  if ((await Deno.lstat(path)).uid !== Deno.uid()) return false;
  const file = join(path, OWNER);
  const owner: ProcessOwner = JSON.parse(await Deno.readTextFile(file));
  const made = (await Deno.stat(file)).mtime?.getTime() ?? Infinity;
  return !(isAlive(owner) ?? Date.now() - made < DAY_MS);
}
