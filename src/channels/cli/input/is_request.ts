import { nearestName } from "../../../domain/kit/names.ts";

/** Whether arguments that begin with no command are a request in plain words: a text with spaces, or several words of
 * which the first is not close to a command. A word alone is rather a command that does not exist. */
export function isRequest(args: readonly string[], commands: readonly string[]): boolean {
  const [first = ""] = args;
  if (/\s/.test(first.trim())) return true;
  const words = args.filter((arg) => !arg.startsWith("-"));
  return words.length > 1 && nearestName(first, commands) === null;
}
