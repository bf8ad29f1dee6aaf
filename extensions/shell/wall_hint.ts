import type { EnvironmentView } from "@vis/extension";

const DENIED = /operation not permitted|permission denied|\bEPERM\b|\bEACCES\b/i;
const NETWORK =
  /could not resolve|name resolution|getaddrinfo|network is unreachable|\bsocket|connect|\bbind\b|\blisten|\bport\b|https?:\/\//i;

/** Explains a refusal in an output that may come from the wall, with the setting that would allow it; null if there is
 * none. */
export function wallHint({ config }: Pick<EnvironmentView, "config">, output: string): string | null {
  const { network = false } = (config ?? {}) as { readonly network?: boolean };
  const lines = output.split("\n");
  const denied = lines.filter((line) => DENIED.test(line));
  const offline = !network && (denied.some((line) => NETWORK.test(line)) ||
    lines.some((line) => /could not resolve|name resolution|getaddrinfo|network is unreachable/i.test(line)));
  if (offline) return "Commands have no network: {network: true} asks the user for it";
  if (denied.length === 0) return null;
  return "Commands write in cwd and $TMPDIR only: {write: [path]} asks the user for more" +
    (network ? "" : ", {network: true} for the network") +
    "; the user opens more folders for reading and running with the setting shell.read";
}
