import { lstat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { resolve } from "node:path";
import { isWithin, shorten, someOf } from "@vis/extension";

/** Tools write these folders on their own, so Vis does not report the loss. */
const CACHES = new Set([
  ...[".cache", ".npm", ".yarn", ".yarnrc", ".bun", ".deno"],
  ...[".cargo", ".rustup", ".gradle", ".m2", ".nuget", ".dotnet", "go"],
]);
/** Such files are settings. Other new files may come from a build, because `$TMPDIR` is the same folder. */
const SETTINGS = /^\.(?!config$)[\w.-]{0,60}(?:rc|profile|config|env|login|logout|aliases|ignore|\.conf|\.toml)$/;
const FILE_OF_HOME = /(?<![^\s=:"'(;&|>])(?:~|"?\$\{?HOME\}?"?)\/([\w.+-]{1,60})/g;
const HOME_ITSELF = /(?<![^\s=:"'(;&|>])(?:~|\$\{?HOME\}?)\/?(?=["\s;&|)]|$)/;
const PLAIN = /^\w[\w.+-]{0,60}$/;
const MOST = 3, COMMAND_CHARS = 80;

export interface Discarded {
  readonly model: string;
  readonly people: string;
}

const REMOVAL = /(?:^|[;&|\n(){}`])\s*(?:sudo\s+)?(?:rm|rmdir|unlink|shred)((?:\s+[^\s;&|\n(){}`<>]+)+)/g;
const OF_HOME = /^~(?=\/|$)/;
const TEMPORARY = [tmpdir(), "/tmp", "/var/tmp"];
const UNKNOWN_PART = /\/?[^/]*[$*?[\\].*$/;

/** On Linux, `rm -rf` of a file that the wall hides succeeds without an effect. */
export function removalsOutside(
  command: string,
  { cwd, within, home = homedir() }: {
    readonly cwd: string;
    readonly within: readonly string[];
    readonly home?: string;
  },
): readonly { readonly word: string; readonly path: string }[] {
  const plain = command.replace(/\$(?:HOME\b|\{HOME\})/g, "~");
  const words = Array.from(plain.matchAll(REMOVAL), ([, rest = ""]) => rest.trim().split(/\s+/)).flat();
  return words.filter((word) => !word.startsWith("-")).flatMap((given) => {
    const word = given.replace(/["']/g, "");
    const path = resolve(cwd, word.replace(OF_HOME, home).replace(UNKNOWN_PART, "") || "/");
    const isKnown = OF_HOME.test(word) || !UNKNOWN_PART.test(word) || /^(?:\/|\.\.)/.test(word);
    return isKnown && !within.some((folder) => isWithin(path, folder)) ? [{ word, path }] : [];
  });
}

/** The model must not learn which files exist outside the workspace, so only the text for people depends on these
 * files. A command has its own temporary folders, so the model needs no text about files there. */
export async function missedRemovals(
  command: string,
  place: Parameters<typeof removalsOutside>[1],
): Promise<{ readonly model: string | null; readonly people: string | null }> {
  const outside = removalsOutside(command, place);
  const isTemporary = (path: string): boolean => TEMPORARY.some((folder) => isWithin(path, folder));
  const told = outside.filter(({ word, path }) => OF_HOME.test(word) || !isTemporary(path));
  const why = "commands cannot change files there";
  const there = await Promise.all(outside.map(({ path }) => lstat(path).then(() => true, () => false)));
  const left = outside.filter((_, at) => there[at]).map(({ path }) => path);
  return {
    model: told.length === 0
      ? null
      : `The command did not remove ${someOf(told.map(({ word }) => word), MOST)} of the user: ${why}`,
    people: left.length === 0
      ? null
      : `A command left ${someOf(left, MOST)} in place, because ${why}: ${shorten(command, COMMAND_CHARS)}`,
  };
}

export function discardedFiles(command: string, names: readonly string[]): Discarded | null {
  const named = new Set(Array.from(command.matchAll(FILE_OF_HOME), ([, name]) => name));
  const isHome = HOME_ITSELF.test(command);
  const missed = names
    .filter((name) => !CACHES.has(name) && (SETTINGS.test(name) || named.has(name) || isHome && PLAIN.test(name)))
    .sort();
  if (missed.length === 0) return null;
  const did = `wrote ${someOf(missed, MOST)} to its temporary home folder, which Vis discarded`;
  return {
    model: `The command ${did}; the user can make this change in a terminal`,
    people: `A command ${did}: ${shorten(command, COMMAND_CHARS)}`,
  };
}
