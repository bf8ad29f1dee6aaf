/** One setting of a git configuration, with section and key in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | null;
  readonly key: string;
  readonly value: string;
}

/** Sections in which no subsection names a program and that include no other file. Keys that name programs are
 * overridden anyway. */
const PLAIN = new Set([
  "branch",
  "color",
  "commit",
  "core",
  "extensions",
  "fetch",
  "gc",
  "init",
  "pull",
  "push",
  "rebase",
  "remote",
  "status",
  "submodule",
  "tag",
  "user",
]);

/** Whether a configuration contains only plain sections: every bracket counts, even one in a value. */
export function isPlainConfig(text: string): boolean {
  return [...text.matchAll(/\[\s*([^\s"\].]*)/g)].every(([, section = ""]) => PLAIN.has(section.toLowerCase()));
}

/** The settings of a file, in order. For a user's own file: invalid lines are skipped. */
export function parseGitConfig(text: string): readonly GitSetting[] {
  const found: GitSetting[] = [];
  let section = "";
  let subsection: string | null = null;
  for (const line of text.replace(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const [, name, sub] = /^\s*\[([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\]/.exec(line) ?? [];
    if (name !== undefined) {
      section = name.toLowerCase();
      subsection = sub === undefined ? null : sub.replace(/\\(.)/g, "$1");
    }
    const rest = name === undefined ? line : line.slice(line.indexOf("]") + 1);
    const [, key, value = "true"] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(rest) ?? [];
    if (key !== undefined && section !== "") {
      found.push({ section, subsection, key: key.toLowerCase(), value: plainValue(value) });
    }
  }
  return found;
}

/** The value without quotes, escapes, comments and surrounding blanks. */
function plainValue(text: string): string {
  let value = "";
  let kept = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === '"') quoted = !quoted;
    else if (char === "\\") value += ESCAPES[text[++at] ?? ""] ?? text[at] ?? "";
    else if (!quoted && (char === "#" || char === ";")) break;
    else value += char;
    if (quoted || !/\s/.test(char)) kept = value.length;
  }
  return value.slice(0, kept);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
