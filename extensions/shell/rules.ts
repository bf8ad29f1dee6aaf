import { matchesWildcard } from "@vis/extension";

export interface CommandRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Returns why a command must not run, or null if it may. Patterns match the text that the model wrote, with a list of
 * arguments joined by blanks. Each part of a command line between `;`, `&`, `|`, line breaks and the like must pass
 * separately. Rules are for honest commands; the wall confines dishonest ones. */
export function refusedBy(rules: CommandRules | undefined, command: string | readonly string[]): string | null {
  if (!rules || rules.allow.length + rules.deny.length === 0) return null;
  for (const part of partsOf(command)) {
    const denied = rules.deny.find((pattern) => matches(pattern, part));
    if (denied !== undefined) return `Cannot run ${shown(part)}: shell.deny has ${shown(denied)}`;
    if (rules.allow.length > 0 && !rules.allow.some((pattern) => matches(pattern, part))) {
      return `Cannot run ${shown(part)}: shell.allow has only ${rules.allow.map(shown).join(", ")}`;
    }
  }
  return null;
}

/** Quoted text is split too: it may be a command line for another shell, and an extra part can only refuse more. */
function partsOf(command: string | readonly string[]): readonly string[] {
  const text = typeof command === "string" ? command : command.join(" ");
  const parts = text.split(/[;&|\n\r(){}`]|\$\(/).map(trimmed).filter((part) => part !== "");
  return typeof command === "string" ? parts : [trimmed(text)];
}

const trimmed = (text: string): string => text.trim().replace(/\s+/g, " ");

/** A trailing blank and star also match nothing. */
function matches(pattern: string, text: string): boolean {
  const plain = trimmed(pattern);
  return matchesWildcard(plain, text) || plain.endsWith(" *") && matchesWildcard(plain.slice(0, -2), text);
}

const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
