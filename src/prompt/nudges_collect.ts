const PREFIX = "[system_nudge]";
const MAX_CHARS = 200;

/** A nudge that was changed. */
export interface NudgeWarning {
  readonly namespace: string;
  readonly problem: string;
}

/** The nudges of one iteration in order: built-in lines, then those of the active extensions. Anything but a non-blank
 * string is dropped; long nudges are cut. */
export function collectNudges(
  { lines, nudges, onWarn }: {
    readonly lines: readonly string[];
    readonly nudges: readonly { readonly namespace: string; readonly text: unknown }[];
    readonly onWarn: (warning: NudgeWarning) => void;
  },
): string[] {
  const own = nudges.flatMap(({ namespace, text }) => {
    const warn = (problem: string) => onWarn({ namespace, problem });
    return typeof text === "string" && text.trim() !== "" ? [cut(prefixed(text), warn)] : [];
  });
  return [...lines, ...own];
}

function prefixed(text: string): string {
  const line = text.slice(0, MAX_CHARS * 10).replace(/\s+/g, " ").trim();
  return line.startsWith(PREFIX) ? line : `${PREFIX} ${line}`;
}

function cut(line: string, warn: (problem: string) => void): string {
  if (line.length <= MAX_CHARS) return line;
  warn(`Nudge cut to ${MAX_CHARS} characters: it has ${line.length}`);
  return `${line.slice(0, MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
