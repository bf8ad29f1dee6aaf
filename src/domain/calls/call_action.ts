import { oneLine } from "../text/clip.ts";
import { visibleText } from "../text/visible_text.ts";

const SUBJECT_CHARS = 120;
/** A list may have a million items. */
const SUBJECT_ITEMS = 10;

/** What calls of a function do, for people who watch: "reading src/app.ts", "read 3 files". */
export interface CallAction {
  /** "reading" */
  readonly doing: string;
  /** "read" */
  readonly done: string;
  /** What calls are counted in: "files". */
  readonly things: string;
  /** How many of the arguments say what a call is about; 1 if absent. */
  readonly named?: number;
}

/** One call: the words of its function, and what it is about. */
export interface CalledAction extends Pick<CallAction, "doing" | "done" | "things"> {
  /** A line of printable text; "" if the words say it all. */
  readonly subject: string;
}

/** Of a call with these arguments, which nothing has validated. */
export function calledAction(
  { doing, done, things, named = 1 }: CallAction,
  args: readonly unknown[],
): CalledAction {
  const words = args.slice(0, named).flatMap(wordsIn).join(" ");
  return { doing, done, things, subject: oneLine(visibleText(words), SUBJECT_CHARS) };
}

function wordsIn(given: unknown): readonly string[] {
  return (Array.isArray(given) ? given.slice(0, SUBJECT_ITEMS) : [given]).flatMap((one: unknown) => {
    const word: unknown = typeof one === "object" && one !== null ? Reflect.get(one, "path") : one;
    return typeof word === "string" ? [word.slice(0, SUBJECT_CHARS * 4)] : [];
  });
}
