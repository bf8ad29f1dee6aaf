import { messageOf } from "../domain/kit/message_of.ts";

const PREFIX = "[system_nudge]";
const MAX_CHARS = 200;

/** A nudge that was rejected or changed. */
export interface NudgeWarning {
  readonly namespace: string;
  readonly problem: string;
}

/** The nudges of one iteration in order: built-in lines, then those of the active extensions. An extension that throws
 * is reported and skipped; anything but a non-blank string is dropped; long nudges are cut. */
export function collectNudges(
  { lines, extensionNudges, onWarn }: {
    readonly lines: readonly string[];
    readonly extensionNudges: readonly { readonly namespace: string; readonly nudge: () => unknown }[];
    readonly onWarn: (warning: NudgeWarning) => void;
  },
): string[] {
  const told = extensionNudges.flatMap(({ namespace, nudge }) => {
    const warn = (problem: string) => onWarn({ namespace, problem });
    const text = ask(nudge, warn);
    return typeof text === "string" && text.trim() !== "" ? [cut(prefixed(text), warn)] : [];
  });
  return [...lines, ...told];
}

function ask(nudge: () => unknown, warn: (problem: string) => void): unknown {
  try {
    const told = nudge();
    // A promise is not a valid nudge, and its rejection must not end the process.
    if (told instanceof Promise) told.catch((error: unknown) => warn(`Nudge rejected: ${messageOf(error)}`));
    return told;
  } catch (error) {
    warn(`Nudge threw: ${messageOf(error)}`);
    return null;
  }
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
