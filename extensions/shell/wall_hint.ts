import type { EnvironmentView } from "@vis/extension";

const DENIED = /operation not permitted|permission denied|read-only file system|\bE(?:PERM|ACCES|ROFS)\b/i;
/** What git and others say of a repository that they cannot change. */
const REPOSITORY =
  /(?:\.git\b|\.husky|hooks|could not lock config|unable to create .*index\.lock).*read-only|read-only.*(?:\.git\b|\.husky|hooks)|device or resource busy/i;
const ABSENT = /no such file or directory|\bENOENT\b/i;
/** An absolute path outside the folders of the system, which commands can see. */
const ELSEWHERE = /(?:^|[\s'"`])\/(?!(?:usr|bin|sbin|lib\w*|opt|etc|proc|dev)\/)\w/;
const NETWORK =
  /could not resolve|name resolution|getaddrinfo|network is unreachable|\bsocket|connect|\bbind\b|\blisten|\bport\b|https?:\/\//i;

/** Explains a refusal in an output that may come from the wall, with the setting that would allow it; null if there is
 * none. */
export function wallHint(
  { config, workspace }: Pick<EnvironmentView, "config" | "workspace">,
  output: string,
): string | null {
  const { network = false } = (config ?? {}) as { readonly network?: boolean };
  const lines = output.split("\n");
  const denied = lines.filter((line) => DENIED.test(line));
  const offline = !network && (denied.some((line) => NETWORK.test(line)) ||
    lines.some((line) => /could not resolve|name resolution|getaddrinfo|network is unreachable/i.test(line)));
  if (offline) return "Commands have no network: {network: true} asks the user for it";
  if (lines.some((line) => REPOSITORY.test(line))) {
    return 'Commands cannot change .git and what its settings name: use the functions of git, or {write: [".git"]}, which asks the user';
  }
  const isHidden = (line: string): boolean => ABSENT.test(line) && ELSEWHERE.test(line.replaceAll(workspace, "."));
  if (denied.length === 0 && !lines.some(isHidden)) return null;
  return "Commands see the system, cwd and $TMPDIR, and write in cwd and $TMPDIR only: {write: [path]} asks the user for more" +
    (network ? "" : ", {network: true} for the network") +
    "; the user opens more folders for reading and running with the setting shell.read";
}
