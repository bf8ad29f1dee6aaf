import { parseGitConfig } from "@vis/extension";
import { homedir } from "node:os";
import { join } from "node:path";

const MAX_BYTES = 256 * 1024;

/** The lines of the user's own ignore file: `core.excludesFile` from `~/.gitconfig`, or git's default. */
export function globalIgnoreLines(home: string = homedir()): readonly string[] {
  if (home === "") return [];
  const named = ["/.gitconfig", "/.config/git/config"].map((name) => excludesFile(readText(`${home}${name}`), home))
    .find((path) => path !== null);
  return readText(named ?? join(home, ".config/git/ignore")).split(/\r?\n/);
}

function excludesFile(config: string, home: string): string | null {
  const found = parseGitConfig(config).find(({ section, key }) => section === "core" && key === "excludesfile");
  return found ? found.value.replace(/^~(?=\/)/, home) : null;
}

/** Reads a file of the user, outside any workspace. */
function readText(path: string): string {
  try {
    const info = Deno.statSync(path);
    return info.isFile && info.size <= MAX_BYTES ? Deno.readTextFileSync(path) : "";
  } catch {
    return "";
  }
}
