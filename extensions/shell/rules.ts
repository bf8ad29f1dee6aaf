export interface CommandRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/**
 * Why a command may not run, null where it may. Patterns are about the text that the model wrote, a list of arguments
 * joined by blanks; each part of a command line between `;`, `&`, `|`, line ends and the like must pass by itself. Rules
 * keep honest commands apart: what keeps a dishonest one in is the wall.
 */
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

/** Text in quotes is cut as well: it may be a command line of another shell, and a part too many only refuses more. */
function partsOf(command: string | readonly string[]): readonly string[] {
  const text = typeof command === "string" ? command : command.join(" ");
  const parts = text.split(/[;&|\n\r(){}`]|\$\(/).map(trimmed).filter((part) => part !== "");
  return typeof command === "string" ? parts : [trimmed(text)];
}

const trimmed = (text: string): string => text.trim().replace(/\s+/g, " ");

/** `*` stands for any text, and a blank and a star at the end for nothing too. Linear: no pattern can hang it. */
function matches(pattern: string, text: string): boolean {
  const plain = trimmed(pattern);
  if (plain.endsWith(" *") && matches(plain.slice(0, -2), text)) return true;
  const pieces = plain.split("*");
  const [first = "", ...rest] = pieces;
  if (rest.length === 0) return text === plain;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

const shown = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
