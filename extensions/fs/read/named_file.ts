import { homedir } from "node:os";
import { counted, type NamedFile } from "@vis/extension";
import { confine } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { listFiles } from "../find_files.ts";
import { readFile } from "./read_file.ts";
import { isHiddenSecret, MAX_READ_BYTES, refuseKeyFile } from "./read_place.ts";

const FEWEST = 500;

/** Resolves with null for a missing path or a special file, and rejects for a binary file. */
export async function namedFile(
  context: FsContext,
  named: string,
  { chars }: { readonly chars: number },
): Promise<NamedFile | null> {
  const { path, real, info } = confine(context, named.replace(/^~(?=\/)/, () => homedir() || "~"));
  const again = `fs.readFile(${JSON.stringify(path)}`;
  if (info?.kind === "dir") return await namedFolder(context, path, chars);
  if (info?.kind !== "file") return null;
  refuseKeyFile(context, { place: { path, real }, action: "read" });
  if (await isHiddenSecret(context, { path, real })) {
    return { path, about: `it may hold keys, so ${again}) asks the user first`, text: null };
  }
  if (info.size > MAX_READ_BYTES) {
    return { path, about: `${info.size} bytes; ${again}, {from: 1, to: 200}) reads lines`, text: null };
  }
  const whole = await readFile(context, path);
  const size = counted(whole.length, "character");
  if (whole.length <= chars) return { path, about: size, text: whole };
  if (chars < FEWEST) return { path, about: `${size}; ${again}) reads it`, text: null };
  const text = beginning(whole, chars);
  const lines = text.split("\n").length;
  const rest = text.endsWith("\n") ? `${again}, {from: ${lines}}) reads the rest` : `${again}) reads all of it`;
  return { path, about: `the first ${text.length} of ${whole.length} characters; ${rest}`, text };
}

async function namedFolder(context: FsContext, path: string, chars: number): Promise<NamedFile> {
  const entries = await listFiles(context, path, { depth: 1 });
  const names = entries.map(({ path: at, type }) => `${at}${type === "dir" ? "/" : ""}\n`).join("");
  const about = `a folder with ${counted(entries.length, "entry")}`;
  if (names.length <= chars) return { path, about, text: names };
  if (chars < FEWEST) return { path, about, text: null };
  return { path, about: `${about}, of which the first`, text: beginning(names, chars) };
}

function beginning(text: string, chars: number): string {
  return text.slice(0, text.lastIndexOf("\n", chars - 1) + 1 || chars).toWellFormed();
}
