import { shorten, someOf } from "@vis/extension";

/** Tools write these names also without a request, so their loss surprises nobody. */
const CACHES = new Set([
  ...[".cache", ".npm", ".yarn", ".yarnrc", ".bun", ".deno"],
  ...[".cargo", ".rustup", ".gradle", ".m2", ".nuget", ".dotnet", "go"],
]);
/** Tools change such files only if somebody wants it. Other new files may be left by a build, because `$TMPDIR` is the
 * same folder. */
const SETTINGS = /^\.(?!config$)[\w.-]{0,60}(?:rc|profile|config|env|login|logout|aliases|ignore|\.conf|\.toml)$/;
const FILE_OF_HOME = /(?<![^\s=:"'(;&|>])(?:~|"?\$\{?HOME\}?"?)\/([\w.+-]{1,60})/g;
const HOME_ITSELF = /(?<![^\s=:"'(;&|>])(?:~|\$\{?HOME\}?)\/?(?=["\s;&|)]|$)/;
const PLAIN = /^\w[\w.+-]{0,60}$/;
const MOST = 3, COMMAND_CHARS = 80;

export interface Discarded {
  readonly model: string;
  readonly people: string;
}

/** `names` are the names at the top of the temporary home that the command wrote. Returns null if the command
 * wrote nothing there that somebody could miss. */
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
