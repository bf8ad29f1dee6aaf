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
