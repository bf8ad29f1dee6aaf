import { Credentials } from "../../providers/credentials.ts";
import type { Settings } from "./settings.ts";

/** `${GITHUB_TOKEN}` from the environment, `${auth:github}` from the file that `vis auth login` writes. */
const REFERENCE = /\$\{(auth:)?([\w.-]+)\}/g;

/** Replaces references to secrets in texts of settings; unknown references stay unchanged. Undefined if `values`
 * contains no reference. Rejects with `ConfigError` if the key file cannot be used. */
export async function settingSecrets(
  values: unknown,
  { home, variable = () => null }: Pick<Settings, "home"> & Partial<Pick<Settings, "variable">>,
): Promise<((text: string) => string) | undefined> {
  if (!(JSON.stringify(values) ?? "").includes("${")) return undefined;
  const keys = home !== null && authReferences(values).size > 0 ? await new Credentials(`${home}/auth.json`).all() : {};
  const keyOf = (name: string): string | undefined => {
    const found = Object.hasOwn(keys, name) ? keys[name] : undefined;
    return found?.type === "key" ? found.key : found?.githubToken;
  };
  return (given) => given.replace(REFERENCE, (whole, auth, name) => (auth ? keyOf(name) : variable(name)) ?? whole);
}

/** Names of the secrets that settings refer to as `${auth:NAME}`: keys that `vis auth login NAME` saves. */
export function authReferences(settings: unknown): ReadonlySet<string> {
  const text = JSON.stringify(settings) ?? "";
  return new Set([...text.matchAll(/\$\{auth:([\w.-]+)\}/g)].map(([, name = ""]) => name));
}
