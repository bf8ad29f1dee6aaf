import { existsSync } from "node:fs";
import { relative } from "node:path";
import { decodeText, isSecretFile } from "@vis/extension";

/** Text of a file below a folder, cut to `maxChars`; null if it is missing or binary, or if its links lead outside or to a file that
 * may hold keys, since a repository may come from anyone. */
export async function readProjectFile(
  root: string,
  { path, maxChars, secrets = [] }: {
    readonly path: string;
    readonly maxChars: number;
    readonly secrets?: readonly string[] | undefined;
  },
): Promise<{ readonly text: string; readonly cut: boolean } | null> {
  if (!existsSync(`${root}/${path}`)) return null;
  try {
    const real = await realInside(root, `${root}/${path}`);
    if (real === null || !(await Deno.stat(real)).isFile) return null;
    if (isSecretFile(relative(await Deno.realPath(root), real), secrets)) return null;
    using file = await Deno.open(real);
    // A character is one to four bytes.
    const bytes = new Uint8Array(maxChars * 4 + 1);
    let length = 0;
    for (let read = await file.read(bytes); read !== null; read = await file.read(bytes.subarray(length))) {
      length += read;
      if (length === bytes.length) break;
    }
    const text = decodeText(bytes.subarray(0, length))?.text;
    if (text === undefined) return null;
    return { text: [...text.slice(0, maxChars + 1)].slice(0, maxChars).join("").trim(), cut: text.length > maxChars };
  } catch {
    return null;
  }
}

/** Where the links of a path lead, if that is below the folder; else null. */
export async function realInside(root: string, path: string): Promise<string | null> {
  try {
    const [top, real] = await Promise.all([Deno.realPath(root), Deno.realPath(path)]);
    return real.startsWith(`${top}${Deno.build.os === "windows" ? "\\" : "/"}`) ? real : null;
  } catch {
    return null;
  }
}
