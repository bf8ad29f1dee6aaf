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
  let section = "";
  for (const line of config.split(/\r?\n/)) {
    const head = /^\s*\[\s*([\w.-]+)/.exec(line);
    if (head) section = (head[1] ?? "").toLowerCase();
    const found = section === "core" ? /^\s*excludesfile\s*=\s*"?([^"#;]+)"?/i.exec(line) : null;
    if (found) return (found[1] ?? "").trim().replace(/^~(?=\/)/, home);
  }
  return null;
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
